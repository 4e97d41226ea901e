# SPDX-License-Identifier: BSD-3-Clause
# The lines of every instruction of some modules of the library, as the interpreter tells them (lines.c).
import importlib
import types

names = "argparse ast asyncio.base_events collections dataclasses decimal enum inspect pickle typing threading"


def say(code):
    words = [str(code.co_firstlineno), code.co_linetable.hex()]
    for begin, end, line in code.co_lines():
        for place in range(begin, end, 2):
            words += [str(place), str(line or 0)]
    if code.co_linetable:
        print(" ".join(words))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            say(inner)


for name in names.split():
    path = importlib.import_module(name).__file__
    with open(path) as source:
        say(compile(source.read(), path, "exec"))
