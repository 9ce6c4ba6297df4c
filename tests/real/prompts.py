"""Prompts that have to reach the model unchanged."""

from __future__ import annotations


def long_prompt() -> str:
    """200 KB of distinct lines, so that a lost piece is detected."""
    size, text = 200 * 1024, "Count the lines.\n"
    number = 0
    while len(text) < size:
        number += 1
        text += f"line {number} of a prompt that is longer than one argument of a program may be\n"
    return text[:size - 1] + "."


PROMPTS = {
    "dash": "--help is what I want to hear of",
    "slash": "/help me with this",
    "file": "@README.md is the name of a file",
    "quotes": "Say \"hi\" and 'there', `date`, $HOME, ${HOME}, $(date), %s, \\n, \\ and {a}",
    "long": long_prompt(),
    "lines": "one\u2028two\u2029three\nfour",
    "emoji": "A rocket 🚀, a joined one 👩‍💻, a flag 🇪🇺, naïve 日本語 עברית",
}
