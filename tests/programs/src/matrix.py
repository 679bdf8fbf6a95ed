# SPDX-License-Identifier: GPL-2.0-or-later
# matrix.py FOLDER - adds by numpy; it begins and ends as wait.h says.
import os
import sys
import time

import numpy


def wait_for(name):
    for _ in range(12000):
        if os.path.exists(os.path.join(sys.argv[1], name)):
            return
        time.sleep(0.01)


print("begun", os.getpid(), flush=True)
wait_for("now")
print("sum", int(numpy.dot(numpy.ones(100), numpy.arange(100))))
print("done", flush=True)
wait_for("end")
