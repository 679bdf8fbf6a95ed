# SPDX-License-Identifier: GPL-2.0-or-later
# pool.py FOLDER - two processes of Python's own that are made late; it begins and ends as wait.h says.
import multiprocessing
import os
import sys
import time


def wait_for(name):
    for _ in range(12000):
        if os.path.exists(os.path.join(sys.argv[1], name)):
            return
        time.sleep(0.01)


def add(first):
    return sum(range(first, 100, 2))


if __name__ == "__main__":
    print("begun", os.getpid(), flush=True)
    wait_for("now")
    with multiprocessing.Pool(2) as pool:
        print("sum", sum(pool.map(add, (0, 1))))
    print("done", flush=True)
    wait_for("end")
