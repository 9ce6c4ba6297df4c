"""Sends requests with the official Anthropic client: takes the base URL and a key, and prints a summary as JSON."""

import json
import sys

import anthropic


def main(base_url, key):
    # No retries: a request that has to be repeated is an error.
    client = anthropic.Anthropic(base_url=base_url, api_key=key, max_retries=0, timeout=30)
    question = {"max_tokens": 1000, "system": "Be brief.", "messages": [{"role": "user", "content": "one two three"}]}

    # Pages of two, which the client follows by itself.
    summary = {"models": [(model.id, model.display_name, model.lifecycle) for model in client.models.list(limit=2)]}
    summary["model"] = client.models.retrieve("team/echo").id

    message = client.messages.create(model="team/echo", **question)
    summary["message"] = strictly(message) | {"has_request_id": bool(message._request_id)}

    events = list(client.messages.create(model="team/echo", stream=True, **question))
    # A text may arrive in any number of pieces.
    summary["events"] = list(dict.fromkeys(event.type for event in events))

    with client.messages.stream(model="team/echo", **question) as stream:
        summary["text_stream"] = "".join(stream.text_stream)
        summary["helper"] = strictly(stream.get_final_message())

    with client.messages.stream(model="thinker", thinking={"type": "adaptive"}, **question) as stream:
        summary["thinking"] = [block.to_dict() for block in stream.get_final_message().content]

    summary["count"] = client.messages.count_tokens(model="team/echo", messages=question["messages"]).input_tokens

    summary["errors"] = []
    wrong_key = client.with_options(api_key="wrong")
    for asked in (
        lambda: client.messages.create(model="nobody", **question),
        lambda: client.models.retrieve("nobody"),
        lambda: wrong_key.models.list(),
        lambda: client.messages.create(model="failing", **question),
        lambda: list(client.messages.create(model="breaking", stream=True, **question)),
    ):
        try:
            asked()
        except anthropic.APIError as error:
            body = error.body["error"]
            summary["errors"].append([type(error).__name__, body["type"], body["message"], bool(error.request_id)])

    # A client that closes its stream in the middle.
    with client.messages.stream(model="hanging", **question) as stream:
        summary["cancelled"] = next(iter(stream.text_stream))
    print(json.dumps(summary))


def strictly(message):
    """Checks every field against the client's types, which it does not do by itself."""
    anthropic.types.Message.model_validate(message.to_dict(), strict=False)
    usage = message.usage
    return {
        "content": [block.to_dict() for block in message.content],
        "role": message.role,
        "model": message.model,
        "stop_reason": message.stop_reason,
        "counted": usage.input_tokens > 0 and usage.output_tokens > 0,
    }


main(*sys.argv[1:])
