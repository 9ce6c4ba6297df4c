"""Sends requests with the official OpenAI client: takes the base URL and a key, and prints a summary as JSON."""

import json
import sys

import openai
import pydantic


class Person(pydantic.BaseModel):
    name: str
    age: int


class Place(pydantic.BaseModel):
    city: str


def formats(client):
    """What is asked of an answer: a format, a call, an end."""
    question = [{"role": "user", "content": "Who?"}]
    parsed = client.chat.completions.parse(model="json", messages=question, response_format=Person)
    with client.chat.completions.stream(model="json", messages=question, response_format=Person) as stream:
        stream.until_done()
        streamed = stream.get_final_completion().choices[0].message.parsed
    tool = {
        "tools": [openai.pydantic_function_tool(Person)],
        "tool_choice": {"type": "function", "function": {"name": "Person"}},
    }
    called = client.chat.completions.parse(model="json", messages=question, **tool).choices[0]
    with client.chat.completions.stream(model="json", messages=question, **tool) as stream:
        stream.until_done()
        streamed_call = stream.get_final_completion().choices[0]
    stopped = client.chat.completions.create(model="json", messages=question, stop=["name"]).choices[0]
    cut = client.chat.completions.create(model="json", messages=question, max_completion_tokens=2).choices[0]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    seen = client.chat.completions.create(model="team/echo", messages=[{"role": "user", "content": [image]}])
    return {
        "parsed": parsed.choices[0].message.parsed.model_dump(),
        "streamed": streamed.model_dump(),
        "called": [called.message.tool_calls[0].function.parsed_arguments.model_dump(), called.finish_reason],
        "streamed_call": [
            streamed_call.message.tool_calls[0].function.parsed_arguments.model_dump(),
            streamed_call.finish_reason,
        ],
        "stopped": [stopped.message.content, stopped.finish_reason],
        "cut": [cut.message.content, cut.finish_reason],
        "image": seen.choices[0].message.content.rsplit("/", 1)[-1],
    }


def main(base_url, key):
    # No retries: a request that has to be repeated is an error.
    client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=30)
    question = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two three"}]
    summary = {"models": [(model.id, model.object, model.owned_by) for model in client.models.list()]}
    summary["model"] = client.models.retrieve("team/echo").id

    answer = client.chat.completions.create(model="team/echo", messages=question)
    choice = answer.choices[0]
    summary["answer"] = {
        "content": choice.message.content,
        "role": choice.message.role,
        "finish_reason": choice.finish_reason,
        "model": answer.model,
        "counted": answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0,
        "has_request_id": bool(answer._request_id),
    }

    chunks = list(
        client.chat.completions.create(
            model="team/echo", messages=question, stream=True, stream_options={"include_usage": True}
        )
    )
    choices = [choice for chunk in chunks for choice in chunk.choices]
    summary["chunks"] = {
        "content": "".join(choice.delta.content or "" for choice in choices),
        "role": choices[0].delta.role,
        "finish_reasons": [choice.finish_reason for choice in choices if choice.finish_reason],
        "ids": len({chunk.id for chunk in chunks}),
        "usage": [bool(chunk.usage) for chunk in chunks[-2:]],
    }

    with client.chat.completions.stream(model="team/echo", messages=question) as stream:
        stream.until_done()
        summary["helper"] = stream.get_final_completion().choices[0].message.content

    summary["asked"] = formats(client)

    summary["errors"] = []
    wrong_key = client.with_options(api_key="wrong")
    for asked in (
        lambda: client.chat.completions.create(model="nobody", messages=question),
        lambda: client.models.retrieve("nobody"),
        lambda: wrong_key.models.list(),
        lambda: client.chat.completions.create(model="failing", messages=question),
        lambda: list(client.chat.completions.create(model="breaking", messages=question, stream=True)),
        lambda: client.chat.completions.parse(model="json", messages=question, response_format=Place),
    ):
        try:
            asked()
        except openai.APIError as error:
            summary["errors"].append([type(error).__name__, error.message, error.code])
    print(json.dumps(summary))


main(*sys.argv[1:])
