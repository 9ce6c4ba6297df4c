"""Measures built plugin projects, for `measure`: prints a Markdown table, one row for each language.

Each figure comes through the real binary over HTTP. The CLI of a run is a shell script that prints a file, the same for
each language.
"""

import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

RUNS = 30
LINES = 20_000
MIB = 1 << 20


class Server:
    """`agentbay serve` in a separate folder, with the component of a project and the limits to try."""

    def __init__(self, binary, project, folder, limits=None, cache=None):
        self.folder = folder
        folder.mkdir(parents=True)
        self.name = "echo"
        for component in project.glob("*.wasm") if project else ():
            self.name = component.stem
            (folder / component.name).write_bytes(component.read_bytes())
        self.set_up({"plugin_file": "256 MiB", **(limits or {})})
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache or folder / "cache")}
        began = time.monotonic()
        with (folder.parent / f"{folder.name}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--listen", "127.0.0.1:0"],
                cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True,
            )
        self.address = self.process.stdout.readline().rpartition("/")[2].strip()
        self.start = time.monotonic() - began

    def set_up(self, limits):
        """Two models: a run of three lines, and one of many."""
        models = {"short": ["one", " two", " three"], "long": [f" word-{number}" for number in range(LINES)]}
        settings = ['[plugins]\ndir = "."\nload_timeout = "10m"\n[limits]\nplugin_compile_timeout = "10m"\n'] + [f'{key} = "{value}"\n' for key, value in limits.items()]
        for model, words in models.items():
            events = [{"type": "session", "id": "s"}, *({"type": "text", "text": word} for word in words), {"type": "done"}]
            (self.folder / f"{model}.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
            script = self.folder / f"{model}.sh"
            script.write_text(f'#!/bin/sh\nwhile read -r line; do :; done\ncat "{self.folder}/{model}.jsonl"\n')
            script.chmod(0o755)
            settings.append(f'[models.{model}]\ndriver = "{self.name}"\nrepo = "."\nprogram = "./{model}.sh"\nretries = 0\n')
        (self.folder / "proxy.toml").write_text("".join(settings))

    def ask(self, model):
        """The duration of a run in seconds, and its answer; no answer if the run failed or the server did not start."""
        if not self.address:
            return 0.0, None
        connection = http.client.HTTPConnection(self.address, timeout=300)
        question = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
        began = time.monotonic()
        connection.request("POST", "/v1/chat/completions", json.dumps(question), {"content-type": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read())
        took = time.monotonic() - began
        whole = response.status == 200 and answer["choices"][0]["message"]["content"]
        return took, whole or None

    def time(self, model):
        """The duration of a successful run in seconds."""
        took, answer = self.ask(model)
        if answer is None:
            sys.exit(f"{self.name}: no answer to a {model} run, see the log in {self.folder.parent}")
        return took

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def works(binary, project, folder, memory, cache):
    with Server(binary, project, folder, {"plugin_memory": f"{memory} MiB"}, cache) as server:
        return server.ask("long")[1] == "".join(f" word-{number}" for number in range(LINES))


def least_memory(binary, project, scratch, cache):
    """The smallest whole number of MiB with which the long run succeeds.

    The limit holds for the built-in plugins too, without which the server does not start: less than they need is not tried.
    """
    low, high = 0, 256
    while high - low > 1:
        middle = (low + high) // 2
        if works(binary, project, scratch / f"memory-{middle}", middle, cache):
            high = middle
        else:
            low = middle
    return high


def row(binary, project, scratch):
    scratch.mkdir()
    cache = scratch / "cache"
    with Server(binary, None, scratch / "first", cache=cache):
        pass  # the built-in plugins are compiled
    with Server(binary, project, scratch / "cold", cache=cache) as server:
        cold = server.start
        server.time("short")
        short = statistics.median(server.time("short") for _ in range(RUNS))
        long = min(server.time("long") for _ in range(3))
    with Server(binary, project, scratch / "warm", cache=cache) as server:
        warm = server.start
    cold = max(cold - warm, 0)
    memory = least_memory(binary, project, scratch, cache)
    [component] = project.glob("*.wasm")
    return component.stat().st_size, cold, short, long, memory


def main(binary, projects, scratch, *languages):
    binary = str(pathlib.Path(binary).resolve())
    print("| language | component | compiling | a short run, p50 | 20,000 lines | memory |")
    print("|---|---|---|---|---|---|")
    for language in languages:
        project, folder = pathlib.Path(projects) / language, pathlib.Path(scratch) / f"measured-{language}"
        size, cold, short, long, memory = row(binary, project, folder)
        print(
            f"| {language} | {size / 1000:,.0f} KB | {cold:.1f} s | {short * 1000:.0f} ms "
            f"| {long:.2f} s | {memory} MiB |", flush=True,
        )


main(*sys.argv[1:])
