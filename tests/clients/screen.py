"""Runs a program on a terminal, and prints what the terminal receives, byte for byte.

It ends as the program does. If UNTIL is not empty, the program gets SIGTERM when that text is on the terminal:
screen.py COLUMNS UNTIL PROGRAM [ARGUMENT...]
"""

import fcntl
import os
import pty
import signal
import struct
import sys
import termios

columns, until, arguments = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
program, terminal = pty.fork()
if program == 0:
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(1, termios.TIOCSWINSZ, size)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(arguments[0], arguments)

received = b""
while True:
    try:
        output = os.read(terminal, 4096)
    except OSError:
        # Linux reports the end of a terminal as an error.
        break
    if not output:
        break
    received += output
    if until and until in received:
        until = b""
        os.kill(program, signal.SIGTERM)
_, status = os.waitpid(program, 0)
sys.stdout.buffer.write(received)
sys.stdout.flush()
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
