"""Python programs that end in Python's own ways, for test_ends.py: python_ends.py CUDART WAY."""

import os
import signal
import sys

import process_shapes


def os_exit():
    process_shapes.work_and_wait(20)
    os._exit(8)


def interrupted():
    """As by Ctrl-C: an unhandled KeyboardInterrupt, after which the interpreter raises the signal."""
    process_shapes.work_and_wait(20)
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()


def terminated():
    process_shapes.work_and_wait(20)
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()


def handled():
    """A handler of Python's that leaves in order: exit handlers run."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
    process_shapes.work(20)
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()


def uncaught():
    process_shapes.work(20)
    raise ValueError("nobody catches this")


WAYS = {way.__name__: way for way in (os_exit, interrupted, terminated, handled, uncaught)}

if __name__ == "__main__":
    WAYS[sys.argv[2]]()
