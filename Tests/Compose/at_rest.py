#!/usr/bin/env python3
"""Prints what processes take while nobody asks anything: its input has lines with a name and the id of a process.

Memory is counted once for all that share it. Linux only.
"""
import os
import sys
import time

SECONDS = 60


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def megabytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1000


def total(measure, processes):
    """What is measured of the processes that are still there, by name."""
    sums = {}
    for name, pid in processes:
        try:
            sums[name] = sums.get(name, 0) + measure(pid)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return sums


processes = [line.split() for line in sys.stdin]
before = total(cpu_seconds, processes)
time.sleep(SECONDS)
after, memory = total(cpu_seconds, processes), total(megabytes, processes)
for each in sorted(memory, key=memory.get, reverse=True):
    print(f"{each:20} {memory[each]:6.0f} MB {100 * (after[each] - before.get(each, 0)) / SECONDS:6.2f} %")
cpu = 100 * (sum(after.values()) - sum(before.values())) / SECONDS
print(f"{'all of it':20} {sum(memory.values()):6.0f} MB {cpu:6.2f} % of a core")
