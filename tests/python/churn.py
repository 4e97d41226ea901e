# SPDX-License-Identifier: BSD-3-Clause
# Makes and frees functions and modules all the time while it is interrupted: code objects, frames,
# generators, exceptions, threads. churn.py SECONDS [LIBRARY]: of CPU time of the main thread; the library
# (handler.c) makes MPI calls in a handler meanwhile.
import ctypes
import importlib
import os
import sys
import tempfile
import threading
import time

seconds = float(sys.argv[1])
folder = tempfile.mkdtemp()
sys.path.insert(0, folder)
stop = False


def make(i):
    space = {}
    source = "\n" * (i % 11) + "def f%d(n):\n    return n and f%d(n - 1) or %d\n" % (i % 3, i % 3, i)
    exec(compile(source, "<made %d>" % (i % 5), "exec"), space)
    return space["f%d" % (i % 3)](i % 40)


def load(i):
    name = "module_%d_%d" % (threading.get_ident(), i)
    path = os.path.join(folder, name + ".py")
    with open(path, "w") as out:
        out.write("class A:\n    def g(self):\n        return [i * i for i in range(50)]\nA().g()\n")
    importlib.invalidate_caches()
    importlib.import_module(name)
    del sys.modules[name]
    os.unlink(path)


def generate(n):
    try:
        for i in range(n):
            yield i
    finally:
        make(n)


def deep(n):
    return deep(n - 1) + 1 if n else 0


def raise_from(n):
    if not n:
        raise ValueError("x" * 20)
    raise_from(n - 1)


class Held:
    def __del__(self):
        make(1)


def one(i):
    make(i)
    sum(generate(20))
    next(generate(3))
    sorted(range(20), key=lambda x: -x)
    deep(200)
    try:
        raise_from(i % 30)
    except ValueError:
        pass
    Held()
    if i % 50 == 0:
        load(i)


def in_thread():
    i = 0
    while not stop:
        one(i)
        i += 1


def short():
    deep(20)


handler = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None
if handler:
    handler.start(997)
thread = threading.Thread(target=in_thread)
thread.start()
i = 0
while time.thread_time() < seconds:
    one(i)
    if i % 20 == 0:
        t = threading.Thread(target=short)
        t.start()
        t.join()
    i += 1
stop = True
if handler and handler.stop() < 10:
    print("the handler hardly ran")
thread.join()
for entry in os.listdir(folder):
    path = os.path.join(folder, entry)
    if os.path.isdir(path):
        for cached in os.listdir(path):
            os.unlink(os.path.join(path, cached))
        os.rmdir(path)
    else:
        os.unlink(path)
os.rmdir(folder)
print("done")
