# SPDX-License-Identifier: BSD-3-Clause
# Two functions of known shares of CPU time, in the interpreter and in C code that it calls; prints
# the times of the thread's clock. mixture.py SECONDS
import hashlib
import sys
import time

text = b"x" * 20000


def in_python(n):
    x = 0
    for i in range(n):
        x += i % 7
    return x


def in_c(n):
    for i in range(n):
        hashlib.sha256(text).digest()


def timed(function, n):
    begin = time.thread_time()
    function(n)
    return time.thread_time() - begin


seconds = float(sys.argv[1])
spent = {"in_python": 0.0, "in_c": 0.0}
while spent["in_python"] < seconds:
    spent["in_python"] += timed(in_python, 20000)
    spent["in_c"] += timed(in_c, 20)
for name, cpu in spent.items():
    print(name, cpu)
