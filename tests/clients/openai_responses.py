"""Sends requests of the Responses API with the official OpenAI client: takes the base URL and a key, and prints a summary as JSON.
What arrives is also validated strictly against the client's own types, which the client itself does not do."""

import json
import sys

import openai
from openai.types.responses import Response, ResponseItemList, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter


class Out(BaseModel):
    name: str


def validated(kind, raw):
    return TypeAdapter(kind).validate_json(raw, strict=True)


def main(base_url, key):
    # No retries: a request that has to be repeated is an error.
    client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=30)
    ask = {"model": "team/echo", "instructions": "Be brief.", "input": "one two three"}
    summary = {}

    raw = client.responses.with_raw_response.create(**ask)
    validated(Response, raw.text)
    answer = raw.parse()
    summary["answer"] = {
        "text": answer.output_text,
        "status": answer.status,
        "model": answer.model,
        "counted": answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens > 0,
        "has_request_id": bool(answer._request_id),
    }

    with client.responses.with_streaming_response.create(**ask, stream=True) as streamed:
        lines = [line[len("data: "):] for line in streamed.iter_lines() if line.startswith("data: ")]
    # Each type once: how many deltas there are does not matter.
    summary["events"] = list(dict.fromkeys(validated(ResponseStreamEvent, line).type for line in lines))

    with client.responses.stream(model="thinking", input="hi") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    summary["helper"] = [final.output_text, final.output[0].summary[0].text, kinds[0], kinds[-1]]

    summary["parsed"] = client.responses.parse(model="json", input="Name one", text_format=Out).output_parsed.name

    more = client.responses.create(model="team/echo", input="and more", previous_response_id=answer.id)
    kept = client.responses.retrieve(answer.id)
    listed = client.responses.input_items.with_raw_response.list(more.id, order="asc")
    validated(ResponseItemList, listed.text)
    summary["stored"] = {
        "continues": "one two three" in more.output_text,
        "same": kept.to_dict() == answer.to_dict(),
        "roles": [item.role for item in client.responses.input_items.list(more.id, order="asc")],
    }
    client.responses.delete(answer.id)

    talk = client.conversations.create(metadata={"topic": "demo"})
    client.responses.create(model="team/echo", input="one", conversation=talk.id)
    summary["conversation"] = [item.role for item in client.conversations.items.list(talk.id, order="asc")]
    summary["conversation_deleted"] = client.conversations.delete(talk.id).deleted

    background = client.responses.create(model="slow", input="hi", background=True)
    with client.responses.retrieve(background.id, stream=True) as stream:
        first = next(event for event in stream if event.type == "response.output_text.delta")
    cancelled = client.responses.cancel(background.id)
    with client.responses.retrieve(background.id, stream=True, starting_after=first.sequence_number) as stream:
        rest = [event.type for event in stream]
    summary["background"] = [background.status, first.delta, cancelled.status, rest]

    summary["errors"] = []
    for asked in (
        lambda: client.responses.create(model="nobody", input="hi"),
        lambda: client.responses.retrieve(answer.id),
        lambda: client.responses.create(model="team/echo", input="hi", previous_response_id=answer.id),
        lambda: client.responses.create(model="failing", input="hi"),
    ):
        try:
            asked()
        except openai.APIStatusError as error:
            summary["errors"].append([error.status_code, error.body["message"].split(":")[0], error.code])
    broken = list(client.responses.create(model="breaking", input="hi", stream=True))[-1]
    summary["broken"] = [broken.type, broken.response.error.message, broken.response.output_text]
    print(json.dumps(summary))


main(*sys.argv[1:])
