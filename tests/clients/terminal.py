"""Starts a program as the leader of a separate terminal, and types its standard input there.

Its standard output and error are this one's, and it ends as the program does: terminal.py PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import pty
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1


def start(arguments):
    """The id of the program's process, and the user's side of the terminal."""
    streams = [os.dup(1), os.dup(2)]
    program, terminal = pty.fork()
    if program == 0:
        if sys.platform == "linux":
            # No process survives a killed test.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The test runner may ignore this signal, which child processes inherit.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for ours, its in zip(streams, [1, 2]):
            os.dup2(ours, its)
        os.execv(arguments[0], arguments)
    return program, terminal


def type_all(terminal):
    while keys := os.read(0, 1024):
        os.write(terminal, keys)


program, terminal = start(sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(program, signal.SIGTERM))
threading.Thread(target=type_all, args=[terminal], daemon=True).start()
_, status = os.waitpid(program, 0)
code = os.waitstatus_to_exitcode(status)
sys.stdout.flush()
os._exit(code if code >= 0 else 128 - code)
