"""The sandbox of the programs: a network namespace with loopback only, and its processes.

Nothing that is started in it can reach another machine, whatever it tries.
"""

from __future__ import annotations

import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess

from backend import until

IFF_UP = 0x1
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914


def way_in() -> list[str] | None:
    """The prefix that starts a command in a separate namespace; none if this machine does not allow it."""
    if shutil.which("unshare") is None:
        return None
    for command in (["unshare", "-n"], ["unshare", "-rn"]):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    return None


def enter() -> None:
    """Enables loopback, and checks that there is nothing else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, SIOCGIFFLAGS, name))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    routed = pathlib.Path("/proc/net/route").read_text().splitlines()[1:]
    if routed:
        raise RuntimeError(f"the namespace has more than loopback: {', '.join(others)}")


def processes(mark: str) -> dict[int, str]:
    """The processes of this namespace that have a mark in their environment, by id."""
    own = namespace("self")
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            marked = mark.encode() in (entry / "environ").read_bytes().split(b"\0")
            # A zombie process has no namespace.
            if marked and namespace(entry.name) == own:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(entry.name)] = command[:100].strip()
        except OSError:
            continue  # it ended meanwhile
    return found


def namespace(process: str) -> str:
    return os.readlink(f"/proc/{process}/ns/net")


def gone(mark: str, seconds: float) -> dict[int, str]:
    """The marked processes that remain after a time to end."""
    until(lambda: not processes(mark), seconds)
    return processes(mark)


def end(mark: str) -> dict[int, str]:
    """Ends the remaining marked processes by id, and returns them."""
    left = processes(mark)
    for process in left:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return left
