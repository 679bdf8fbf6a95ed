# SPDX-License-Identifier: GPL-2.0-or-later
"""berth_policy - what a site's own policy needs to talk with berthd (berth-protocol(7), CORES and PROPOSE): the node's cores with
who stands there, the blackboard's figures, and proposals. berthd checks each one; what it refuses comes back as one line."""
import json
import mmap
import os
import socket
import struct

RUN = os.environ.get("BERTH_RUN", "/run/berth")
STATE = ("idle", "normal", "saturated")


class Berth:
    """One connection to berthd, which is made anew where berthd was started again."""

    def __init__(self, name, path=None):
        self.name, self.path, self.stream = name, path or RUN + "/berthd.sock", None

    def ask(self, op, **fields):
        """Returns the lines of the answer, as dictionaries; ConnectionError where there is no berthd."""
        line = json.dumps(dict(version=1, op=op, **fields)) + "\n"
        try:
            if not self.stream:
                self.connect()
            return self.talk(line)
        except (ConnectionError, EOFError):
            self.connect()
            return self.talk(line)

    def connect(self):
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(self.path)
        except OSError as error:
            raise ConnectionError(f"{self.path}: {error.strerror}") from error
        self.stream = link.makefile("rw")

    def talk(self, line):
        self.stream.write(line)
        self.stream.flush()
        lines = []
        while not lines or lines[-1].get("more"):
            text = self.stream.readline()
            if not text:
                raise EOFError("berthd has hung up")
            lines.append(json.loads(text))
        return lines

    def cores(self):
        """Returns the node's cores: their first CPU, their steps as (job, step), and what sensors and clocks say."""
        lines = self.ask("cores")
        if not lines[0]["ok"]:
            raise PermissionError(lines[0]["error"])
        cores = [line["core"] for line in lines if "core" in line]
        for core in cores:
            core["cpu"] = int(core["cpus"].replace("-", ",").split(",")[0])
            core["steps"] = [tuple(step) for step in core["steps"]]
            core["free"] = core["pool"] and not core["off"] and not core["steps"]
        return cores

    def propose(self, step, **change):
        """Proposes one of cpus="0-3", khz=1800000 and prefetch="off" of the step. Returns None, or why it was refused."""
        answer = self.ask("propose", policy=self.name, job=step[0], step=step[1], **change)[0]
        return None if answer["ok"] else answer["error"]


def blackboard(path=None):
    """Returns the sections of the blackboard (berth_blackboard(3)): {"memory0": {"state", "utilisation", "traffic", "watts"}}."""
    with open(path or RUN + "/blackboard", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as board:
        magic, version, page, sections = struct.unpack_from("=8s3I", board, 0)
        if magic != b"berthrcr" or version != 1:
            raise ValueError("no blackboard of this version")
        read = (section(board, page * (i + 1)) for i in range(sections))
        return {one["name"]: one for one in read if one}


def section(board, at):
    """Reads what was written at one time: the number before the words is odd meanwhile, and another one afterwards."""
    for _ in range(100):
        before, = struct.unpack_from("=I", board, at)
        text, _, n, _, *value = struct.unpack_from("=16siIQ16d", board, at + 4)
        if before % 2 == 0 and before == struct.unpack_from("=I", board, at)[0]:
            named = dict(zip(("state", "utilisation", "traffic", "watts"), value[:n]))
            state = named.get("state", -1)
            named["state"] = STATE[int(state)] if state in (0, 1, 2) else None
            return dict(named, name=text.split(b"\0")[0].decode())
    return None
