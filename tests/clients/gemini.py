"""Sends requests with Google's official client: takes the base URL, a key, and the file that the model `slow` waits for, and
prints a summary as JSON."""

import asyncio
import json
import pathlib
import sys

import pydantic
from google import genai
from google.genai import errors, types


class Out(pydantic.BaseModel):
    name: str
    size: int | None = None


def main(base_url, key, gate):
    client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=base_url, timeout=30_000))
    question = "one two three"
    brief = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0)
    summary = {
        "models": [(model.name, model.display_name, model.supported_actions) for model in client.models.list()],
        "model": client.models.get(model="team/echo").name,
        "tokens": client.models.count_tokens(model="team/echo", contents=question).total_tokens,
    }

    answer = client.models.generate_content(model="team/echo", contents=question, config=brief)
    summary["answer"] = {
        "text": answer.text,
        "finish_reason": answer.candidates[0].finish_reason,
        "model": answer.model_version,
        "has_id": bool(answer.response_id),
        "counted": answer.usage_metadata.total_token_count
        == answer.usage_metadata.prompt_token_count + answer.usage_metadata.candidates_token_count
        > 0,
    }

    chunks = list(client.models.generate_content_stream(model="team/echo", contents=question, config=brief))
    summary["chunks"] = {
        "text": "".join(chunk.text or "" for chunk in chunks),
        "finish_reasons": [chunk.candidates[0].finish_reason for chunk in chunks if chunk.candidates[0].finish_reason],
        "ids": len({chunk.response_id for chunk in chunks}),
        "usage": [bool(chunk.usage_metadata) for chunk in chunks[-2:]],
    }
    summary["async"] = asyncio.run(streamed(client, question))

    chat = client.chats.create(model="team/echo")
    chat.send_message("first")
    summary["chat"] = chat.send_message("second").text
    summary["history"] = [content.role for content in chat.get_history(curated=True)]

    thoughts = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
    summary["thoughts"] = {}
    for name, config in (("with", thoughts), ("without", None)):
        answer = client.models.generate_content(model="thinking", contents="hi", config=config)
        parts = answer.candidates[0].content.parts
        streamed_parts = [
            part
            for chunk in client.models.generate_content_stream(model="thinking", contents="hi", config=config)
            for part in chunk.candidates[0].content.parts
        ]
        summary["thoughts"][name] = {
            "text": answer.text,
            "parts": [(part.text, bool(part.thought)) for part in parts],
            "streamed": "".join(part.text for part in streamed_parts if part.thought),
            "tokens": answer.usage_metadata.thoughts_token_count,
        }

    # The model is silent until its stream has a sign of life.
    chunks = list(opening(gate, client.models.generate_content_stream(model="slow", contents="hi")))
    summary["slow"] = {
        "text": "".join(chunk.text or "" for chunk in chunks),
        "kept_alive": any(part.thought for chunk in chunks for part in chunk.candidates[0].content.parts),
    }
    chat = client.chats.create(model="slow")
    summary["slow_chat"] = "".join(chunk.text or "" for chunk in opening(gate, chat.send_message_stream("hi")))
    spoken = [(content.role, "".join(part.text or "" for part in content.parts)) for content in chat.get_history(curated=True)]
    summary["slow_history"] = [(role, text) for role, text in spoken if text]
    summary["slow_again"] = chat.send_message("again").text

    parsed = {}
    for name, config in (
        ("schema", {"response_mime_type": "application/json", "response_schema": Out}),
        ("json_schema", {"response_mime_type": "application/json", "response_json_schema": Out.model_json_schema()}),
        ("any", {"response_mime_type": "application/json"}),
    ):
        answer = client.models.generate_content(model="json", contents="Name one", config=config)
        parsed[name] = answer.parsed.model_dump() if name == "schema" else json.loads(answer.text)
    summary["parsed"] = parsed

    summary["errors"] = []
    wrong_key = genai.Client(api_key="wrong", http_options=types.HttpOptions(base_url=base_url, timeout=30_000))
    for asked in (
        lambda: client.models.generate_content(model="nobody", contents=question),
        lambda: client.models.get(model="nobody"),
        lambda: client.models.count_tokens(model="nobody", contents=question),
        lambda: list(wrong_key.models.list()),
        lambda: client.models.generate_content(model="failing", contents=question),
        lambda: list(client.models.generate_content_stream(model="failing", contents=question)),
        lambda: list(client.models.generate_content_stream(model="breaking", contents=question)),
    ):
        try:
            asked()
        except errors.APIError as error:
            summary["errors"].append([type(error).__name__, error.code, error.status, error.message])
    try:
        client.interactions.create(model="team/echo", input=question)
    except Exception as error:  # The classes of this part of the client are not public.
        summary["interactions"] = "there is no Interactions API here" in str(error)
    print(json.dumps(summary))


def opening(gate, stream):
    """The chunks of a stream, whose model continues after the first one."""
    pathlib.Path(gate).unlink(missing_ok=True)
    for chunk in stream:
        pathlib.Path(gate).touch()
        yield chunk


async def streamed(client, question):
    stream = await client.aio.models.generate_content_stream(model="team/echo", contents=question)
    return "".join([chunk.text or "" async for chunk in stream])


main(*sys.argv[1:])
