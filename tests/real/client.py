"""The client: a chat request to the proxy, whole or streamed, and the answer, checked against the form of the API."""

from __future__ import annotations

import dataclasses
import http.client
import json
import time

SESSION = "x-agent-session"
# Longer than the proxy's limit of a run.
REQUEST_SECONDS = 170


@dataclasses.dataclass
class Answer:
    """The answer."""

    status: int = 0
    content: str = ""
    reasoning: str = ""
    usage: dict | None = None
    finish: str | None = None
    session: str | None = None
    error: dict | None = None  # of the status, or in the stream
    malformed: list[str] = dataclasses.field(default_factory=list)

    def short(self) -> str:
        """A description for debugging."""
        if self.error is not None:
            shown = json.dumps({key: self.error.get(key) for key in ("code", "message", "detail")}, ensure_ascii=False)
            shown = f"{self.status} {shown[:400]}"
        else:
            shown = f"{self.status} {self.finish} content={self.content[:200]!r} ({len(self.content)} characters)"
        return f"{shown} {'; '.join(self.malformed)}".rstrip()


class Request:
    """A request in progress. Closing it simulates a client that disconnects."""

    def __init__(self, port: int, model: str, messages: list[dict], stream: bool, session: str | None, seconds: float):
        self.stream = stream
        self.deadline = time.monotonic() + seconds
        body: dict = {"model": model, "messages": messages, "stream": stream}
        if stream:
            body["stream_options"] = {"include_usage": True}
        # Scenarios share their prompts: a remembered failure of one must not be returned for another.
        headers = {"content-type": "application/json", "x-agentbay-rerun": "true"} | ({SESSION: session} if session else {})
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        self.connection.request("POST", "/v1/chat/completions", json.dumps(body).encode(), headers)

    def close(self) -> None:
        self.connection.close()

    def answer(self) -> Answer:
        """Waits for the end. Raises `TimeoutError` after the timeout."""
        response = self.connection.getresponse()
        answer = Answer(status=response.status, session=response.getheader(SESSION))
        if response.status != 200:
            self.failed(answer, response.read())
        elif self.stream:
            self.streamed(answer, response)
        else:
            whole(answer, json.loads(response.read()))
        return answer

    def failed(self, answer: Answer, body: bytes) -> None:
        try:
            answer.error = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError):
            answer.malformed.append(f"an error without the form of one: {body[:200]!r}")

    def streamed(self, answer: Answer, response: http.client.HTTPResponse) -> None:
        done = False
        for line in response:
            if time.monotonic() > self.deadline:
                raise TimeoutError
            if not line.startswith(b"data: "):
                continue
            if done:
                answer.malformed.append("something came after the end of the stream")
            data = line[len(b"data: "):].strip()
            if data == b"[DONE]":
                done = True
                continue
            chunk(answer, json.loads(data))
        if not done and answer.error is None:
            answer.malformed.append("the stream ended without [DONE] and without an error")


def whole(answer: Answer, body: dict) -> None:
    choice = body["choices"][0]
    answer.content = choice["message"]["content"]
    answer.reasoning = choice["message"].get("reasoning_content") or ""
    answer.finish, answer.usage = choice["finish_reason"], body["usage"]


def chunk(answer: Answer, body: dict) -> None:
    if "error" in body:
        answer.error = body["error"]
        return
    if body.get("usage"):
        answer.usage = body["usage"]
    for choice in body["choices"]:
        if answer.finish is not None:
            answer.malformed.append("a delta came after the finish reason")
        answer.content += choice["delta"].get("content") or ""
        answer.reasoning += choice["delta"].get("reasoning_content") or ""
        answer.finish = choice["finish_reason"]


def ask(port: int, model: str, messages: list[dict] | str, stream: bool, session: str | None = None,
        seconds: float = REQUEST_SECONDS) -> Answer:
    """Sends a request and waits for its answer."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    request = Request(port, model, messages, stream, session, seconds)
    try:
        return request.answer()
    finally:
        request.close()
