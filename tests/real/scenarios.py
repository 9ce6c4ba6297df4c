"""The scenarios for each CLI, and their required results.

A scenario is a function from a bench to a complaint, or to none. What is right follows from what the scripted
server sent, never from what a CLI or a plugin made of it.
"""

from __future__ import annotations

import dataclasses
import http.client
import json
import re
from collections.abc import Callable

import proxy
import sandbox
from backend import Backend, scripted_llm
from client import REQUEST_SECONDS, Answer, Request, ask
from clis import Cli
from prompts import PROMPTS

# A process has the proxy's grace period of 5 s to end before it is killed; some use it.
LEAVE_SECONDS = 15
START_SECONDS = 60


@dataclasses.dataclass
class Bench:
    """A CLI behind the proxy in one mode, with a separate home and model server: several can run in parallel."""

    cli: Cli
    mode: str
    backend: Backend
    port: int = 0

    @property
    def name(self) -> str:
        """The name of its models."""
        return f"{self.cli.name}-{self.mode}"

    @property
    def stream(self) -> bool:
        return self.mode == "stream"

    def ask(self, scenario: str, messages: list[dict] | str, model: str = "", session: str | None = None) -> Answer:
        """Starts a scenario on the model server and sends a request through the proxy."""
        self.backend.scenario = scenario
        return ask(self.port, self.name + model, messages, self.stream, session)

    def requests(self, mark: int) -> list[dict]:
        """The CLI's requests to its model after the first `mark`, without its internal ones."""
        return [record for record in self.backend.since(mark) if "api" in record]

    def mark(self) -> int:
        return len(self.backend.arrived)


Scenario = Callable[[Bench], str | None]


def answered(answer: Answer, content: str) -> str | None:
    """Whether an answer is complete with exactly this text."""
    if answer.malformed or answer.error is not None or answer.status != 200:
        return f"no answer: {answer.short()}"
    if answer.content != content:
        return f"another text: {difference(content, answer.content)}"
    if answer.finish != "stop":
        return f"finish reason {answer.finish}"
    return None


def difference(expected: str, came: str) -> str:
    """The first difference of two texts."""
    pairs = zip(expected, came)
    at = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(came)))
    start = max(0, at - 20)
    return (f"{len(came)} characters for {len(expected)}, from {at} on {came[start:at + 60]!r}"
            f" for {expected[start:at + 60]!r}")


def plain(bench: Bench) -> str | None:
    mark = bench.mark()
    answer = bench.ask("plain", "Say hello")
    return answered(answer, scripted_llm.PLAIN) or usage(bench, answer, mark)


def usage(bench: Bench, answer: Answer, mark: int) -> str | None:
    """The tokens of whole requests, as many of them as were made at the most: a CLI may leave out its side requests."""
    if answer.usage is None:
        return "no usage"
    unit = bench.cli.usage
    if unit is None:
        return None
    reported = (answer.usage["prompt_tokens"], answer.usage["completion_tokens"])
    made = len(bench.requests(mark))
    if reported not in [(unit[0] * count, unit[1] * count) for count in range(1, made + 1)]:
        return f"usage {reported} is not that of 1 to {made} requests of {unit}"
    return None


def reasoning(bench: Bench) -> str | None:
    answer = bench.ask("reasoning", "Say hello")
    expected = scripted_llm.REASONING if bench.cli.shows_reasoning else ""
    wrong = answered(answer, scripted_llm.PLAIN)
    if wrong is None and answer.reasoning not in (expected, scripted_llm.REASONING):
        wrong = f"another reasoning: {difference(expected, answer.reasoning)}"
    return wrong


def markdown(bench: Bench) -> str | None:
    return answered(bench.ask("markdown", "Say hello"), scripted_llm.MARKDOWN)


def hostile(bench: Bench) -> str | None:
    expected = scripted_llm.HOSTILE
    if bench.cli.strips_escapes:
        expected = re.sub(r"\x1b\[[0-9;]*m", "", expected)
    return answered(bench.ask("hostile", "Say hello"), expected)


def tool(bench: Bench) -> str | None:
    mark = bench.mark()
    # With full access, because some CLIs offer the model no shell otherwise.
    answer = bench.ask("tool", "List the files", "-full")
    found = re.fullmatch(r"Done\. The tool returned [1-9][0-9]* characters\.", answer.content)
    wrong = answered(answer, found.group() if found else "Done. The tool returned … characters.")
    if wrong is None and not any(record["after_tool"] for record in bench.requests(mark)):
        wrong = "no result of a tool was sent to the model"
    return wrong


def empty(bench: Bench) -> str | None:
    """What a CLI makes of an answer without text is its own affair, and must be passed on as that: as an empty answer
    where it says that the turn is over, as a failure where it says that it failed, and never as any text."""
    answer = bench.ask("empty", "Say hello")
    if bench.cli.empty_is_failure:
        return failed(answer, (500, 502), ("unknown", "server"), ("",))
    return answered(answer, "")


# Possible text of an interrupted stream: a CLI may lose the last part.
BEFORE_CUT = ["".join(scripted_llm.pieces(scripted_llm.PLAIN)[:count]) for count in range(3)]
FAILURES = {
    "auth401": (401, ("authentication",), ("",)),
    "rate429": (429, ("rate_limit",), ("",)),
    "quota429": (429, ("quota",), ("",)),
    "error500": (502, ("server",), ("",)),
    # The provider's connection broke: the network's fault, or the server's, but no answer and no unknown failure. What
    # had been sent stays, and is sent once, however often the CLI tries again.
    "cut": (502, ("network", "server"), (*BEFORE_CUT, *map(str.rstrip, BEFORE_CUT))),
}


def failure(name: str) -> Scenario:
    def scenario(bench: Bench) -> str | None:
        status, codes, texts = FAILURES[name]
        answer = bench.ask(name, "Say hello")
        if bench.cli.goes_on:
            texts = tuple(text * times for text in texts for times in range(1, 5))
        return failed(answer, (status,), codes, texts)

    return scenario


def failed(answer: Answer, statuses: tuple[int, ...], codes: tuple[str, ...], texts: tuple[str, ...]) -> str | None:
    """Whether an answer is such a failure, with no other text than these before it."""
    if answer.error is None or answer.malformed:
        return f"no failure: {answer.short()}"
    # A stream that has begun has no other status any more.
    has_begun = answer.status == 200 and bool(answer.content)
    if not (answer.status in statuses or has_begun) or answer.error.get("code") not in codes:
        return f"another failure than {statuses} {codes}: {answer.short()}"
    if not answer.error.get("message"):
        return f"a failure without a message: {answer.short()}"
    if answer.content not in texts:
        return f"text with a failure: {answer.content[:300]!r}"
    return None


def resume(bench: Bench) -> str | None:
    return resumed_with(bench, "Which word was it?")


def resume_file(bench: Bench) -> str | None:
    """A CLI may use another mode for such a prompt than for the one before: the session must be the same."""
    return resumed_with(bench, "@README.md: which word was it?")


def resumed_with(bench: Bench, second: str) -> str | None:
    first = "Remember the word plumtree"
    begun = bench.ask("plain", first)
    wrong = answered(begun, scripted_llm.PLAIN)
    if wrong or begun.session is None:
        return wrong or "no session in the answer's header"
    mark = bench.mark()
    conversation = [{"role": "user", "content": first}, {"role": "assistant", "content": scripted_llm.PLAIN},
                    {"role": "user", "content": second}]
    resumed = bench.ask("plain", conversation, session=begun.session)
    wrong = answered(resumed, scripted_llm.PLAIN)
    if wrong is None and resumed.session != begun.session:
        wrong = f"another session: {resumed.session} after {begun.session}"
    return wrong or remembered(bench, mark, first, second)


def remembered(bench: Bench, mark: int, first: str, second: str) -> str | None:
    """Whether the model was sent both prompts, each once: the first by the CLI's memory, and not again by the proxy."""
    for record in bench.requests(mark):
        texts = "\n".join(record["user_texts"])
        if (texts.count(first), texts.count(second)) == (1, 1):
            return None
    return f"no request with both prompts, each once: {[record['user_texts'] for record in bench.requests(mark)]}"[:600]


def cancel(bench: Bench) -> str | None:
    bench.backend.scenario, mark = "hang", bench.mark()
    messages = [{"role": "user", "content": "Say hello"}]
    request = Request(bench.port, bench.name, messages, bench.stream, None, REQUEST_SECONDS)
    try:
        if not bench.backend.wait_for_request(mark, START_SECONDS):
            return f"the CLI asked its model for nothing within {START_SECONDS} s"
        if not sandbox.processes(proxy.mark(bench.name)):
            return "the CLI cannot be seen, so neither can its end"
    finally:
        request.close()
    return None  # its processes are checked after every scenario


def prompt(name: str) -> Scenario:
    def scenario(bench: Bench) -> str | None:
        mark = bench.mark()
        wrong = answered(bench.ask("plain", PROMPTS[name]), scripted_llm.PLAIN)
        return arrived(bench, mark, PROMPTS[name]) or wrong

    return scenario


def arrived(bench: Bench, mark: int, text: str) -> str | None:
    """Whether the model was sent a prompt as it is, and nothing that it speaks of."""
    texts = [piece for record in bench.requests(mark) for piece in record["user_texts"]]
    if any(proxy.README_WORD in piece for piece in texts):
        return "the model was sent a file that the prompt speaks of"
    if text in texts or bench.cli.wraps_prompts and any(text in piece for piece in texts):
        return None
    if not texts:
        return "the model was asked nothing"
    # The CLI's text has its result.
    nearest = min(texts, key=lambda piece: (text not in piece, abs(len(piece) - len(text))))
    return f"the prompt did not arrive as it is: {difference(text, nearest)}"


ALL: dict[str, Scenario] = {
    "plain": plain,
    "tool": tool,
    "reasoning": reasoning,
    "markdown": markdown,
    "hostile": hostile,
    **{name: failure(name) for name in FAILURES},
    "empty": empty,
    "resume": resume,
    "resume-file": resume_file,
    "cancel": cancel,
    **{f"prompt-{name}": prompt(name) for name in PROMPTS},
}


@dataclasses.dataclass(frozen=True)
class Complaint:
    """The fault of a run."""

    text: str
    final: bool  # processes remained, which no second attempt excuses


def play(bench: Bench, name: str) -> Complaint | None:
    """Runs a scenario, and checks for remaining processes of the CLI."""
    mark = proxy.mark(bench.name)
    try:
        wrong = ALL[name](bench)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        wrong = f"{type(error).__name__}: {error}"
    left = sandbox.gone(mark, LEAVE_SECONDS)
    if left:
        sandbox.end(mark)
        complaint = f"still there after {LEAVE_SECONDS} s: {json.dumps(left)}"
        wrong = f"{wrong}; {complaint}" if wrong else complaint
    return Complaint(wrong, final=bool(left)) if wrong else None
