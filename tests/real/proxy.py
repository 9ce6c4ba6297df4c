"""The proxy under test: its configuration, start and end, and the home and repository of each CLI."""

from __future__ import annotations

import contextlib
import json
import pathlib
import queue
import subprocess
import threading
from collections.abc import Iterator

from packages import Installed

START_SECONDS = 60
STOP_SECONDS = 30
MARK = "AGENTBAY_REAL"
# Neither in a prompt nor in a path: a request that contains it contains the file.
README_WORD = "zanzibar"
README = f"# Scripted\n\nA small repository for runs of agents. The word of this file is {README_WORD}.\n"
# Longer than any CLI retries a failing model.
TIMEOUT = "150s"
# Long enough that a failure of a stream has a status, and the session a header, even on a slow machine.
LIMITS = {"first_event_timeout": "120s"}


def mark(name: str) -> str:
    """A marker in the environment of all processes behind these models."""
    return f"{MARK}={name}"


def prepare(installed: Installed, name: str, url: str, folder: pathlib.Path) -> dict[str, dict]:
    """Creates home and repository of a CLI, and returns its models: the default one, and one with full access."""
    home, repo = folder / "home", folder / "repo"
    (folder / "tmp").mkdir(parents=True)
    home.mkdir()
    for path, text in installed.cli.settings(url).items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = installed.cli.env(url, home)
    for variable, value in env.items():
        # Codex requires the folder.
        if variable.endswith(("_HOME", "_DIR")):
            pathlib.Path(value).mkdir(parents=True, exist_ok=True)
    make_repository(repo)
    model = {
        "driver": installed.cli.driver,
        "repo": str(repo),
        "program": str(installed.program),
        "timeout": TIMEOUT,
        "env": env | {
            "HOME": str(home), "PATH": installed.path, "TMPDIR": str(folder / "tmp"), MARK: name,
            "LANG": "C.UTF-8",
        },
    }
    if installed.cli.model:
        model["model"] = installed.cli.model
    return {
        name: model,
        f"{name}-full": model | {"permission": "full-access"},
    }


def make_repository(repo: pathlib.Path) -> None:
    repo.mkdir()
    (repo / "README.md").write_text(README)
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*author, "commit", "-q", "-m", "First"]):
        subprocess.run(["git", *command], cwd=repo, check=True, timeout=60, stdin=subprocess.DEVNULL)


def configuration(models: dict[str, dict], folder: pathlib.Path, limits: dict[str, str]) -> str:
    """A proxy.toml. JSON strings are valid TOML strings. The CLIs are under test, so nothing is retried."""
    plugins, cache = json.dumps(str(folder / "plugins")), json.dumps(str(folder / "cache"))
    lines = ["[defaults]", "retries = 0", "max_repo_runs = 16", "\n[plugins]", f"dir = {plugins}", f"cache = {cache}",
             "\n[limits]", *(f"{name} = {json.dumps(value)}" for name, value in limits.items())]
    for name, model in models.items():
        lines.append(f"\n[models.{json.dumps(name)}]")
        for key, value in model.items():
            if isinstance(value, dict):
                pairs = ", ".join(f"{inner} = {json.dumps(text)}" for inner, text in value.items())
                lines.append(f"{key} = {{ {pairs} }}")
            else:
                lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def drivers(binary: pathlib.Path, folder: pathlib.Path) -> set[str]:
    """The plugins that the proxy has."""
    config = folder / "proxy.toml"
    config.write_text(configuration({}, folder, LIMITS))
    done = subprocess.run([binary, "plugin", "list", "--json", "--config", config], cwd=folder, env=environment(folder),
                          capture_output=True, text=True, timeout=START_SECONDS, check=True)
    return {plugin["id"] for plugin in json.loads(done.stdout)["plugins"]}


def environment(folder: pathlib.Path) -> dict[str, str]:
    """The proxy's environment, which leads to none of this machine's CLIs."""
    return {"HOME": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": str(folder),
            "AGENTBAY_LOG": "info"}


@contextlib.contextmanager
def serving(binary: pathlib.Path, models: dict[str, dict], folder: pathlib.Path,
            limits: dict[str, str] = LIMITS) -> Iterator[int]:
    """A running proxy, by its port. Its log is `proxy.log` in the folder."""
    config = folder / "proxy.toml"
    config.write_text(configuration(models, folder, limits))
    with (folder / "proxy.log").open("wb") as log:
        proxy = subprocess.Popen([binary, "serve", "--config", config, "--listen", "127.0.0.1:0"], cwd=folder,
                                 env=environment(folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                 text=True)
        try:
            yield port_of(proxy, folder)
        finally:
            proxy.terminate()
            try:
                proxy.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                proxy.kill()
                proxy.wait()


def port_of(proxy: subprocess.Popen, folder: pathlib.Path) -> int:
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: lines.put(proxy.stdout.readline()), daemon=True).start()
    with contextlib.suppress(queue.Empty):
        line = lines.get(timeout=START_SECONDS)
        if line.startswith("listening on "):
            return int(line.rsplit(":", 1)[1])
    raise RuntimeError(f"the proxy did not start: {(folder / 'proxy.log').read_text()[-2000:]}")
