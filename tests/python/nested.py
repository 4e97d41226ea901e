# SPDX-License-Identifier: BSD-3-Clause
# nested.py wait|compute: in functions of several kinds, waits for its input or computes until it is killed;
# before, it writes where it is: function:line, the outermost first. The interpreter's loop calls itself through
# C on the way.
import functools
import sys


class Solver:
    def step(self, n):
        if n:
            return self.step(n - 1)
        return functools.reduce(self.pair, [1, 2])

    def pair(self, a, b):
        return sorted([a, b], key=lambda x: wait())


def generated():
    yield Solver().step(3)


def wait():
    frames = []
    frame = sys._getframe()
    while frame:
        line = frame.f_lineno if frames else LINE
        frames.append(f"{frame.f_code.co_qualname}:{line}")
        frame = frame.f_back
    print(*reversed(frames), sep="\n", flush=True)
    if sys.argv[1] == "wait":
        sys.stdin.buffer.raw.read(1)  # waits
    while sys.argv[1] == "compute":
        frame = len(frames) * len(frames)
    return 0


LINE = next(i + 1 for i, text in enumerate(open(__file__)) if text.rstrip().endswith("# waits"))
list(generated())
