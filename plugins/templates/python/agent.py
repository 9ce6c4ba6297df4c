"""The plugin: how {{name}}-cli is started, and what its output means.

It touches nothing of the machine: text comes in, values go out. What each value means is documented in wit/agent.wit; `build`
writes the same as Python into wit_world/, where an editor finds it. This file has the name of the contract's interface,
`agent`, since that is where componentize-py looks for the class `Transcript`.

Import everything here at the top: the system's files are there while the component is built, and at no other time.

Change what the comments point at, and keep four rules: text of the answer is given once, however often the CLI repeats
it; how the output is grouped into calls makes no difference; what is not understood is skipped; nothing raises.
"""

import json

import wit_world
from componentize_py_types import Err
from failures import classify
from wit_world.exports import agent as wit

PROGRAM = "{{name}}-cli"


class Agent(wit_world.exports.Agent):
    """What the CLI is, and how it is started."""

    def describe(self) -> wit.Description:
        return wit.Description(
            id="{{name}}",  # `driver` in proxy.toml
            name="{{name}}",
            version="0.1.0",
            programs=[PROGRAM],  # the host starts no other program
            framing=wit.Framing.LINES,  # whole lines; TEXT delivers output as printed
            # Declare only what the CLI supports: the host relies on it.
            features=wit.Features.PARTIAL
            | wit.Features.TOOLS
            | wit.Features.RESUME
            | wit.Features.MODEL_CHOICE
            | wit.Features.READ_ONLY,
            models=[],
            # How to check an installed CLI, such as version_args=["--version"].
            probe=wit.Probe(version_args=[], tested_versions="", install_hint="", login_hint=""),
            home=None,
        )

    def prepare(self, turn: wit.Turn) -> wit.Plan:
        """The command line of a turn, without the prompt, which `begin` writes to standard input.

        Choose flags with which the CLI never waits for a person.
        """
        args = []
        if turn.model is not None:
            args += ["--model", value("--model", turn.model)]
        if turn.session is not None:
            args += ["--resume", value("--resume", turn.session)]
        if turn.permission is wit.Permission.READ_ONLY:
            args.append("--read-only")
        return wit.Plan(program=PROGRAM, args=args, env=[], files=[])


class Transcript(wit.Transcript):
    """The state of one process. Add the fields that you need between two calls."""

    def __init__(self, turn: wit.Turn) -> None:
        self.error: dict | None = None  # the last error event

    def begin(self, turn: wit.Turn) -> list[wit.Event]:
        """Writes the prompt to standard input, which is then closed."""
        return [wit.Event_Reply(turn.prompt), wit.Event_EndInput()]

    def output(self, source: wit.StreamName, text: str) -> list[wit.Event]:
        """Reads whole lines, one or more. The host keeps the tail of standard error for failures."""
        if source is wit.StreamName.STDERR:
            return []
        return [event for line in text.split("\n") for event in self.read(line)]

    def read(self, line: str) -> list[wit.Event]:
        """Reads one line. Add the events of your CLI here."""
        event = json_object(line)
        match event.get("type"):
            case "session":
                return [wit.Event_Session(string(event, "id"))]
            case "text":
                return [wit.Event_Text(string(event, "text"))]
            case "tool":
                given = json.dumps(event.get("input", {}), separators=(",", ":"))
                return [wit.Event_ToolCall(wit.ToolCall(string(event, "id"), string(event, "name"), given))]
            case "result":
                failed = event.get("is_error") is True
                return [wit.Event_ToolResult(wit.ToolResult(string(event, "id"), string(event, "output"), failed))]
            case "usage":
                return [wit.Event_Usage(usage(event))]
            case "error":
                self.error = event
            case "done":  # the turn is over, regardless of what the process does next
                return [wit.Event_Done(wit.Outcome(wit.Stop.END_TURN, None, None))]
        return []  # unknown: formats change

    def exit(self, how: wit.ExitStatus) -> wit.Outcome:
        """The outcome of a process that has ended. It counts only if there was no `done`."""
        match how:
            case wit.ExitStatus_Killed(reason):
                why = killed(reason)
            case wit.ExitStatus_Code(0):
                why = failure(wit.Category.UNKNOWN, f"{PROGRAM} ended before it had finished its turn")
            case _ if self.error is not None:
                why = reported(self.error)
            case _:
                why = failure(wit.Category.UNKNOWN, "CLI failed")
        return wit.Outcome(wit.Stop.END_TURN, why, None)


def value(option: str, text: str) -> str:
    """Refuses a value that the CLI could take for an option."""
    if text and not text.startswith("-"):
        return text
    message = f"`{text}` cannot be the value of {option}: it is empty or starts with a dash"
    raise Err(failure(wit.Category.VALIDATION, message))


def reported(error: dict) -> wit.Failure:
    """The CLI's error event as a failure. The category determines retry, fallback and the HTTP status."""
    message = string(error, "message")
    match error.get("kind"):
        case "rate_limit":
            seconds = count(error, "retry_after")
            retry = wit.RetryHint_AfterMs(seconds * 1000) if seconds else None
            return failure(wit.Category.RATE_LIMIT, "The provider's rate limit is reached", message, retry)
        case "login":
            return failure(wit.Category.AUTHENTICATION, f"{PROGRAM} is not logged in", message)
        case _:  # text only
            return classify(message)


def killed(reason: wit.KillReason) -> wit.Failure:
    """The message for a process that the host ended."""
    if reason in (wit.KillReason.TIMEOUT, wit.KillReason.IDLE):
        return failure(wit.Category.TIMEOUT, f"{PROGRAM} took too long and was stopped")
    return failure(wit.Category.UNKNOWN, f"{PROGRAM} was stopped: {reason.name.lower().replace('_', '-')}")


def failure(
    category: wit.Category, message: str, detail: str = "", retry: wit.RetryHint | None = None
) -> wit.Failure:
    """A failure. The host replaces an empty detail with standard error."""
    return wit.Failure(category, message, detail, retry)


def usage(record: dict) -> wit.Usage:
    """The tokens of the run so far: a later record replaces an earlier one."""
    scope = wit.UsageScope.RUN
    return wit.Usage(scope, count(record, "input"), 0, 0, count(record, "output"), 0)


def json_object(line: str) -> dict:
    """The object in a line; empty if it is not a JSON object."""
    try:
        parsed = json.loads(line)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def string(record: dict, name: str) -> str:
    """A field that is missing or has another type counts as absent."""
    field = record.get(name)
    # JSON can contain a lone surrogate, which the host would refuse.
    return field.encode("utf-8", "replace").decode() if isinstance(field, str) else ""


def count(record: dict, name: str) -> int:
    """A number of tokens or seconds."""
    field = record.get(name)
    return field if type(field) is int and 0 <= field < 1 << 53 else 0
