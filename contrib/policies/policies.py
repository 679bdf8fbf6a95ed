#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three policies over berthd's socket, as samples (Wang 2015, chapter 7): policies.py NAME [SECONDS between two looks, else 10]

fcfs   each new step stands on the first cores that are free, and stays there
screw  Policy 1.a: who is on a core of t1 goes to one below it; of t2, to the coolest below t2 that it has not found so hot
calm   while the memory of its cores is saturated, a step has half of their frequency (the blackboard says which is)"""
import sys
import time

from berth_policy import Berth, blackboard


def fcfs(berth, cores, seen):
    free = {core["cpu"] for core in cores if core["free"]}
    for step in sorted({step for core in cores for step in core["steps"]} - seen):
        own = {core["cpu"] for core in cores if step in core["steps"]}
        may = set(sorted(own | free)[:len(own)])
        free = (free | own) - may
        seen.add(step)
        yield step, dict(cpus=",".join(map(str, sorted(may))))


def screw(berth, cores, hot):
    for core in (core for core in cores if core["steps"] and core["celsius"] is not None):
        step = core["steps"][0]
        if core["celsius"] < core["t1"]:
            continue
        too_hot = core["celsius"] >= core["t2"]
        if too_hot:
            hot.add((step, core["cpu"]))
        limit = "t2" if too_hot else "t1"
        may = [to for to in cores if to["free"] and (to["celsius"] or 999) < to[limit] and (step, to["cpu"]) not in hot]
        if may:
            own = {other["cpu"] for other in cores if step in other["steps"]} - {core["cpu"]}
            to = min(may, key=lambda to: to["celsius"]) if too_hot else may[0]
            to["free"] = False
            yield step, dict(cpus=",".join(map(str, own | {to["cpu"]})))


def calm(berth, cores, _):
    busy = {name for name, one in blackboard().items() if one["state"] == "saturated"}
    for core in (core for core in cores if core["khz_highest"] and core["steps"]):
        if any("memory" + node in busy for node in core["nodes"].split(",")):
            yield core["steps"][0], dict(khz=int(core["khz_highest"] / 2), for_s=30)


def main(name, every_s=10):
    policy, berth, memory = {"fcfs": fcfs, "screw": screw, "calm": calm}[name], Berth(name), set()
    while True:
        for step, change in policy(berth, berth.cores(), memory):
            print(step, change, berth.propose(step, **change) or "done", flush=True)
        if not every_s:
            return
        time.sleep(every_s)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("fcfs", "screw", "calm"):
        sys.exit(__doc__)
    main(sys.argv[1], *map(float, sys.argv[2:]))
