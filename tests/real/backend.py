"""The model behind the CLIs: the scripted server, which here also keeps the user's messages that it receives.

Each CLI has a server of its own, and the scenario is set before a run, so that side requests of a CLI (titles, routing,
memory) are answered in the same scenario, and a prompt holds nothing but what is to be tested.
"""

from __future__ import annotations

import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fixtures"))
import scripted_llm  # noqa: E402 (found in the folder named above)


class Backend(scripted_llm.Server):
    """A scripted server on a free port of the loopback interface."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), scripted_llm.parse_args([]))
        self.scenario = "plain"
        self.arrived: list[dict] = []  # the requests so far, answered or not
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self.thread.start()

    def scenario_for(self, ask: scripted_llm.Ask) -> str:
        return self.scenario

    def dump(self, record: dict, body: dict) -> None:
        record["user_texts"] = user_texts(body)
        with self.lock:
            self.arrived.append(record)

    def since(self, mark: int) -> list[dict]:
        """The requests after the first `mark`."""
        with self.lock:
            return self.arrived[mark:]

    def wait_for_request(self, mark: int, seconds: float) -> bool:
        """Waits for a request after the first `mark`."""
        return until(lambda: bool(self.since(mark)), seconds)

    def stop(self) -> None:
        self.stopping.set()
        self.shutdown()
        self.server_close()


def until(condition, seconds: float) -> bool:
    """Waits for a condition, with a time limit."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def user_texts(body: dict) -> list[str]:
    """Every text of a user's message in a request of any of the four APIs, as separate pieces."""
    texts: list[str] = []
    for message in items(body.get("input")) + items(body.get("messages")) + items(body.get("contents")):
        if not isinstance(message, dict) or message.get("role") != "user":
            continue
        for part in items(message.get("content")) + items(message.get("parts")):
            text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                texts.append(text)
    return texts


def items(value) -> list:
    """Normalises one text, a list, or nothing to a list."""
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []
