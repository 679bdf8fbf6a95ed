# SPDX-License-Identifier: GPL-2.0-or-later
# threads.py FOLDER - two threads of Python that are made late; it begins and ends as wait.h says.
import os
import sys
import threading
import time


def wait_for(name):
    for _ in range(12000):
        if os.path.exists(os.path.join(sys.argv[1], name)):
            return
        time.sleep(0.01)


total = [0, 0]


def add(first):
    total[first] = sum(range(first, 100, 2))


print("begun", os.getpid(), flush=True)
wait_for("now")
threads = [threading.Thread(target=add, args=(first,)) for first in (0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("sum", sum(total))
print("done", flush=True)
wait_for("end")
