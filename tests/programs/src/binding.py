# SPDX-License-Identifier: GPL-2.0-or-later
# binding - a module of imports.py: remembers its CPUs when it is imported, and binds by them when it is called.
import os

cpus = os.sched_getaffinity(0)


def bind():
    os.sched_setaffinity(0, {max(cpus)})
