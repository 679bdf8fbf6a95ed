# SPDX-License-Identifier: GPL-2.0-or-later
# binds.py FOLDER - remembers its CPUs when it begins, and binds itself to one of them late; it begins and ends as wait.h says.
import os
import sys
import time


def wait_for(name):
    for _ in range(12000):
        if os.path.exists(os.path.join(sys.argv[1], name)):
            return
        time.sleep(0.01)


cpus = os.sched_getaffinity(0)
print("begun", os.getpid(), flush=True)
wait_for("now")
os.sched_setaffinity(0, {max(cpus)})
print("sum", sum(range(100)))
print("done", flush=True)
wait_for("end")
