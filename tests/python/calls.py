# SPDX-License-Identifier: BSD-3-Clause
# Calls MPI by ctypes from functions of many kinds, and records by sys._getframe from where.
# calls.py LIBRARY OUT: the MPI library; OUT.RANK gets a line "COUNT<tab>PATH" for each path.
import asyncio
import collections
import contextlib
import ctypes
import functools
import sys
import threading

ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)  # so that a preloaded library is found first
try:
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
except ValueError:
    world = ctypes.c_int(0x44000000)  # MPICH
flag = ctypes.c_int()
rank = ctypes.c_int()
called = collections.Counter()
lock = threading.Lock()


def note():
    path = []
    frame = sys._getframe(1)
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        path.append("%s@%s:%d" % (name, code.co_filename.split("/")[-1], frame.f_lineno))
        frame = frame.f_back
    with lock:
        called[" > ".join(reversed(path))] += 1


def call():
    note(); mpi.MPI_Initialized(ctypes.byref(flag))


def twice():
    call()
    call()


def recurse(n):
    if n > 0:
        recurse(n - 1)
    else:
        call()


def generate(n):
    for i in range(n):
        call()
        yield i


def delegate(n):
    yield from generate(n)
    try:
        yield n
    except ValueError:
        call()


class Grid:
    def __init__(self):
        call()

    def __len__(self):
        call()
        return 3

    @property
    def size(self):
        call()
        return 1

    @staticmethod
    def step():
        call()

    def __del__(self):
        call()


@contextlib.contextmanager
def region():
    call()
    yield
    call()


def fail(n):
    if n == 0:
        raise KeyError
    try:
        fail(n - 1)
    finally:
        call()


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        call()
        return function(*args)

    return wrapper


@traced
def decorated(x):
    call()
    return x


def compare(a, b):
    call()
    return a[0] - b[0]


def in_c():
    sorted([3, 1, 2], key=lambda x: call() or x)
    list(map(decorated, [1, 2]))
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    values = (ctypes.c_int * 2)(2, 1)
    mpi.qsort(values, 2, ctypes.sizeof(ctypes.c_int), kind(compare))
    functools.reduce(lambda a, b: call() or b, [1, 2, 3])


# One code object's address, function, file and first instruction, at another line.
def churn(n):
    for i in range(n):
        space = {"call": call}
        exec(compile("def made():\n" + "\n" * (i % 7) + "    call()\nmade()\n", "<made>", "exec"), space)
        exec(compile("\n" * (i % 5) + "call()", "<other>" if i % 2 else "<made>", "exec"), space)


async def coroutine(n):
    await asyncio.sleep(0)
    call()
    if n:
        await coroutine(n - 1)


def many(n):
    for i in range(n):
        for f in (twice, call, lambda: twice(), Grid.step):
            f()


def deep(n):
    if n > 0:
        deep(n - 1)
    else:
        mpi.MPI_Finalized(ctypes.byref(flag))


def wide(a, b=1, *c, **d):
    [call() for i in range(2)]
    {call() for i in range(2)}
    any(call() for i in range(2))
    grüße()


def grüße():
    call()


def in_thread():
    many(20)
    recurse(3)


def main():
    twice()
    recurse(20)
    sum(generate(3))
    d = delegate(2)
    [next(d) for i in range(3)]
    with contextlib.suppress(StopIteration):
        d.throw(ValueError)
    grid = Grid()
    len(grid)
    grid.size
    del grid
    with region():
        call()
    try:
        fail(3)
    except KeyError:
        call()
    decorated(1)
    in_c()
    churn(60)
    asyncio.run(coroutine(2))
    many(300)
    wide(1, 2, 3, e=4)
    threads = [threading.Thread(target=in_thread) for i in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    recurse(100)
    eval("call()")
    sys.setrecursionlimit(5000)
    deep(700)
    deep(3000)


mpi.MPI_Init_thread(None, None, 3, ctypes.byref(flag))
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
main()
with open("%s.%d" % (sys.argv[2], rank.value), "w") as out:
    for path, count in called.items():
        out.write("%d\t%s\n" % (count, path))
mpi.MPI_Finalize()
