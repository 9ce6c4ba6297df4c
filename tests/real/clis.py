"""The specifics of each CLI: its package, its settings, and its known treatment of answers.

The settings are what a user of that CLI would have: a provider, a key, no telemetry, no updates. How a run is started
is the plugin's affair, and no setting here does its work for it.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Callable

KEY = "sk-local-0001"  # not part of any answer: Copilot masks its key everywhere


@dataclasses.dataclass(frozen=True)
class Cli:
    """One CLI in one version."""

    name: str
    driver: str
    package: str
    version: str
    program: str  # a pattern below the prefix of its package
    settings: Callable[[str], dict[str, str]]  # from the provider's address to the files of its home
    env: Callable[[str, pathlib.Path], dict[str, str]]  # from that and the home to variables
    model: str | None = None
    needs_node: int = 0  # a Node.js of at least this version on PATH; 0 for a native program
    shows_reasoning: bool = True
    usage: tuple[int, int] | None = (1111, 333)  # tokens of one request as the plugin counts them; none if not reported
    empty_is_failure: bool = False  # it reports an answer without text as a failure
    strips_escapes: bool = False  # it removes escape sequences from the model's text
    wraps_prompts: bool = False  # it adds its own text around the prompt
    goes_on: bool = False  # it lets the model continue an incomplete answer; the scripted model starts again
    # Known deviations of this CLI that cannot be fixed: the reason, by `scenario` or `scenario/mode`.
    deviates: dict[str, str] = dataclasses.field(default_factory=dict)


def nothing(_url: str) -> dict[str, str]:
    return {}


def codex_settings(url: str) -> dict[str, str]:
    text = f"""model = "gpt-scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"

[analytics]
enabled = false
"""
    return {".codex/config.toml": text}


def codex_env(_url: str, home: pathlib.Path) -> dict[str, str]:
    return {"CODEX_HOME": str(home / ".codex"), "SCRIPTED_API_KEY": KEY}


def claude_env(url: str, home: pathlib.Path) -> dict[str, str]:
    return {
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        # Containers that run as root set this: without it root is refused full access.
        "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


def gemini_settings(_url: str) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        # It treats a long line as a loop, and stops.
        "model": {"disableLoopDetection": True},
    }
    return {".gemini/settings.json": json.dumps(settings)}


def gemini_env(url: str, _home: pathlib.Path) -> dict[str, str]:
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}


def qwen_settings(_url: str) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    return {".qwen/settings.json": json.dumps(settings)}


def qwen_env(url: str, _home: pathlib.Path) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "qwen-scripted"}


def opencode_settings(url: str) -> dict[str, str]:
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted-model",
        "small_model": "scripted/scripted-model",
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": {"baseURL": f"{url}/v1", "apiKey": "{env:SCRIPTED_API_KEY}"},
                "models": {"scripted-model": {"name": "Scripted", "limit": {"context": 200000, "output": 8192}}},
            }
        },
    }
    return {".config/opencode/opencode.json": json.dumps(settings)}


def opencode_env(_url: str, _home: pathlib.Path) -> dict[str, str]:
    return {
        "SCRIPTED_API_KEY": KEY,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "true",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }


def copilot_env(url: str, home: pathlib.Path) -> dict[str, str]:
    return {
        "COPILOT_HOME": str(home / ".copilot"),
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "gpt-scripted",
        "COPILOT_AUTO_UPDATE": "false",
    }


def claude(name: str, version: str) -> Cli:
    return Cli(
        name=name,
        driver="claude",
        package="@anthropic-ai/claude-code",
        version=version,
        # A script of the package assembles its program; the native one needs no script.
        program="@anthropic-ai/claude-code-*/claude",
        settings=nothing,
        env=claude_env,
        usage=(1111 + 222 + 55, 333),
    )


# The slowest first: they determine the total duration.
ALL = (
    Cli(
        name="qwen",
        driver="qwen",
        package="@qwen-code/qwen-code",
        version="0.24.4",
        program=".bin/qwen",
        settings=qwen_settings,
        env=qwen_env,
        needs_node=22,
        empty_is_failure=True,
        goes_on=True,
    ),
    Cli(
        name="opencode",
        driver="opencode",
        package="opencode-ai",
        version="1.18.33",
        program="opencode-*/bin/opencode",
        settings=opencode_settings,
        env=opencode_env,
        shows_reasoning=False,
    ),
    Cli(
        name="gemini",
        driver="gemini",
        package="@google/gemini-cli",
        version="0.61.0",
        program=".bin/gemini",
        settings=gemini_settings,
        env=gemini_env,
        # Without a model it asks a second one which to use.
        model="gemini-2.5-flash",
        needs_node=20,
        shows_reasoning=False,
        usage=(1111, 333 + 44),
        strips_escapes=True,
        empty_is_failure=True,
        # Its source, `runNonInteractive`: `isSlashCommand` and `handleAtCommand` get each prompt, whatever the settings.
        deviates={
            "prompt-slash": "the model gets a space before the `/`: without it the CLI would run a command of that name, if there is one",
            "prompt-file": "it adds the file that `@path` names, and has no switch for that",
        },
    ),
    Cli(
        name="copilot",
        driver="copilot",
        package="@github/copilot",
        version="1.0.102",
        program=".bin/copilot",
        settings=nothing,
        env=copilot_env,
        needs_node=20,
        usage=None,
        empty_is_failure=True,
        wraps_prompts=True,
    ),
    claude("claude", "2.1.332"),
    claude("claude-old", "2.1.197"),
    Cli(
        name="codex",
        driver="codex",
        package="@openai/codex",
        version="0.171.0",
        program=".bin/codex",
        settings=codex_settings,
        env=codex_env,
        needs_node=18,
    ),
)
