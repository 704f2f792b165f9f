#!/usr/bin/env python3
"""Prints what containers take while nobody asks anything: its input has lines with a name and the id of a container's
first process. The figures are also written as JSON to the file that is its argument, unless they cannot be measured.

Counted by the kernel for the whole container (control groups, version 1 or 2), so that health checks count, which are
processes of a moment. Memory is without files that it could drop, as `docker stats` has it. What the Docker engine
itself takes is not counted.
"""
import json
import sys
import time

# As long as the interval of the health checks in docker-compose.yml: each runs once.
SECONDS = 300
ROOT = "/sys/fs/cgroup"


class Container:
    def __init__(self, pid):
        with open(f"/proc/{pid}/cgroup") as file:
            # Lines of a number, the controllers, and the path of the group; version 2 has one without controllers.
            self.paths = {name: path for _, names, path in (line.strip().split(":", 2) for line in file)
                          for name in names.split(",")}

    def text(self, controller, name):
        folder = f"{ROOT}/{controller}" if controller in self.paths else ROOT
        with open(f"{folder}{self.paths.get(controller, self.paths.get(''))}/{name}") as file:
            return file.read()

    def statistic(self, controller, file, name):
        lines = self.text(controller, file).splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith(f"{name} ")))

    def cpu_seconds(self):
        if "cpuacct" in self.paths:
            return int(self.text("cpuacct", "cpuacct.usage")) / 1e9
        return self.statistic("cpu", "cpu.stat", "usage_usec") / 1e6

    def megabytes(self):
        if "memory" in self.paths:
            used, inactive = self.text("memory", "memory.usage_in_bytes"), "total_inactive_file"
        else:
            used, inactive = self.text("memory", "memory.current"), "inactive_file"
        return (int(used) - self.statistic("memory", "memory.stat", inactive)) / 1e6


def total(measure, containers):
    """What is measured of the containers that are still there, by name."""
    sums = {}
    for name, container in containers:
        try:
            sums[name] = sums.get(name, 0) + measure(container)
        except FileNotFoundError:
            pass
    return sums


def main():
    lines = [line.split() for line in sys.stdin]
    try:
        containers = [(name, Container(pid)) for name, pid in lines]
        for _, container in containers:
            container.cpu_seconds(), container.megabytes()
    except FileNotFoundError as error:
        print(f"not measured: the containers are not on this machine, or have no control groups ({error.filename})")
        return
    before = total(Container.cpu_seconds, containers)
    time.sleep(SECONDS)
    after, memory = total(Container.cpu_seconds, containers), total(Container.megabytes, containers)
    percent = {name: 100 * (after[name] - before.get(name, 0)) / SECONDS for name in memory if name in after}
    for each in sorted(memory, key=memory.get, reverse=True):
        print(f"{each:20} {memory[each]:6.0f} MB {percent.get(each, 0):6.2f} %")
    cpu = sum(percent.values())
    print(f"{'all of it':20} {sum(memory.values()):6.0f} MB {cpu:6.2f} % of a core, with health checks")
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            json.dump({"seconds": SECONDS, "megabytes": memory, "percent": percent}, file)


main()
