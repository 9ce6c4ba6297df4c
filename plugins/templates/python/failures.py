"""The category of a failure, from a CLI's error text.

Hand over what came on its error channel only: what the assistant says is never an error, whatever words it has.
"""

import re

from failure_table import TABLE
from wit_world.exports import agent as wit

# Words that mark a number as an HTTP status: `port 500` and `429 tokens` are not.
BEFORE = "http status code error err response returned received rejected failed got with".split()
UNITS = "ms s sec seconds minutes tokens characters bytes lines times".split()

RATE_LIMIT_MS = 1000
QUOTA_MS = 60_000
BURST_MS = 120_000

# "try again in 20s", "retry after 2m 30s", "resets in 3 hours".
PART = r"(\d+(?:\.\d+)?) ?(ms|sec|s|min|m|hr|h|d)"
WAIT = re.compile(
    r"\b(?:again|retry|wait|resets?|available)\w*(?: (?:in|after|for|about))*[ :=]*((?:" + PART + r"[a-z]*[ ,]*)+)", re.I
)
SIZES = {"ms": 1, "s": 1e3, "sec": 1e3, "m": 60e3, "min": 60e3, "h": 3600e3, "hr": 3600e3, "d": 86400e3}


def classify(text: str) -> wit.Failure:
    """The failure: category, a message for the client, the text as detail, and a retry hint if there is one."""
    detail = text[:16384]
    words = spaced(detail)
    wait = wait_of(detail)
    category, message = "unknown", "CLI failed"
    for kind, sentence, statuses, phrases, burst_only in TABLE:
        if burst_only and (wait is None or wait > BURST_MS):
            continue
        if any(f" {phrase}" in words for phrase in phrases) or any(is_status(words, status) for status in statuses):
            category, message = kind, sentence
            break
    ms = retry_of(category, wait)
    retry = None if ms is None else wit.RetryHint_AfterMs(ms)
    return wit.Failure(wit.Category[category.upper().replace("-", "_")], message, detail, retry)


def spaced(text: str) -> str:
    """Letters and digits in lower case, everything else as one space; camelCase is two words."""
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", re.sub(r'\\[nrt"\\]', " ", text))
    return " " + re.sub(r"[\W_]+", " ", parted.lower()).strip() + " "


def is_status(words: str, status: int) -> bool:
    """Whether the words contain this number as an HTTP status."""
    every = words.split()
    for at, word in enumerate(every):
        is_stated = at == 0 or every[at - 1] in BEFORE or "http" in every[max(0, at - 3) : at]
        if word == str(status) and is_stated and every[at + 1 : at + 2] not in [[unit] for unit in UNITS]:
            return True
    return False


def wait_of(text: str) -> int | None:
    """The requested wait in milliseconds."""
    stated = WAIT.search(text)
    if stated is None:
        return None
    return round(sum(float(number) * SIZES[unit.lower()] for number, unit in re.findall(PART, stated[1], re.I)))


def retry_of(category: str, wait: int | None) -> int | None:
    """The retry hint: a rate limit always has one, and a quota is not restored within a minute."""
    if category == "rate-limit":
        return RATE_LIMIT_MS if wait is None else wait
    if category == "quota":
        return wait if wait is not None and wait >= QUOTA_MS else None
    return wait if category in ("server", "timeout") else None
