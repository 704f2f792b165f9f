#!/usr/bin/env python3
"""Replaces every service by another version while people use it: rolling.py OLD NEW, two folders of programs.

Each service runs twice, on PostgreSQL, behind one gateway. Under load each replica in turn is ended by SIGTERM and takes
up its place as the new version, after the migrations of the new version have run: so old programs run on the new schema,
and old and new ones call each other. Then the same way back. No request may fail, read or write, and nothing may be
lost.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "Benchmarks"))
from harness.machine import ENVIRONMENT, free_port, prepare
from harness.postgres import Postgres
from harness.services import SERVICES, Kith

REPLICAS = 2
STORY = ROOT / "Tests/Compose/story.py"
REQUESTS = int(os.environ.get("KITH_REQUESTS", 100_000))


class Stack:
    def __init__(self, old, new, folder):
        self.postgres, self.folder = Postgres(folder), folder
        self.kith = Kith(old, folder)
        self.versions = {"old": old, "new": new}
        self.ports = {name: [free_port() for _ in range(REPLICAS)] for name in SERVICES}
        self.ports["gateway"] = [free_port()]
        self.urls = {
            f"{name.upper()}_URL": ",".join(f"http://127.0.0.1:{port}" for port in ports)
            for name, ports in self.ports.items() if name != "gateway"}
        self.running = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.ports['gateway'][0]}"

    def environment(self):
        # Photos are in a folder that the replicas share.
        return self.urls | {"DATA_DIR": self.folder / "data", "PUBLIC_URL": self.url, "DRAIN_SECONDS": 1}

    def start(self, name, version):
        """Starts what is not there of a service."""
        self.kith.programs = self.versions[version]
        for port in self.ports[name]:
            if (name, port) not in self.running:
                program = self.kith.launch(
                    f"kith-{name}", None if name == "gateway" else self.postgres, ports={"PORT": port},
                    environment=self.environment())
                program.wait("/health/ready")
                self.running[name, port] = program

    def migrate(self, version):
        for name in SERVICES:
            environment = self.kith.secrets(f"kith-{name}") | {"DATABASE_URL": self.postgres.url}
            subprocess.run(
                [self.versions[version] / f"kith-{name}", "migrate"], check=True, cwd=self.folder,
                stdout=subprocess.DEVNULL, env=ENVIRONMENT | {key: str(value) for key, value in environment.items()})

    def replace(self, name, version):
        for port in self.ports[name]:
            self.running.pop((name, port)).stop()
            self.start(name, version)

    def stop(self):
        for program in self.running.values():
            program.stop()
        self.postgres.stop()

    def story(self, *arguments):
        command = [sys.executable, STORY, *map(str, arguments)]
        return subprocess.Popen(
            command, env=os.environ | {"ADMIN_API_KEY": self.kith.admin_key}, stdout=subprocess.PIPE, text=True)

    def check(self, *arguments):
        story = self.story(*arguments)
        print(story.communicate()[0].strip()[:120], flush=True)
        if story.returncode:
            sys.exit(f"{arguments[0]} failed")


def replaced_under_load(stack, version):
    """Replaces all services, each when enough requests were answered since the last one."""
    succeeded = 0
    for name in SERVICES:
        load = stack.story("load", stack.url, stack.folder / "first", 3600, 0, REQUESTS // len(SERVICES))
        time.sleep(1)
        stack.replace(name, version)
        # It fails at once, so that it still runs means that nothing has failed so far.
        if load.poll() is not None:
            sys.exit(f"the load ended before {name} was replaced by the {version} version: {load.communicate()[0]}")
        time.sleep(1)
        load.terminate()
        output = load.communicate()[0]
        counts = re.search(r"(\d+) requests succeeded, (\d+) were answered by 503", output)
        if load.returncode or not counts or int(counts[2]):
            sys.exit(f"requests failed while {name} was replaced by the {version} version: {output}")
        succeeded += int(counts[1])
        print(f"{name} is {version}: {output.strip()}", flush=True)
    print(f"{succeeded} requests, none of which failed", flush=True)


def main():
    old, new = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    prepare("postgresql")
    with tempfile.TemporaryDirectory(prefix="kith-upgrade.") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        stack = Stack(old, new, folder)
        try:
            stack.postgres.start()
            for service in [*SERVICES, "gateway"]:
                stack.start(service, "old")
            stack.check("begin", stack.url, folder / "first")
            stack.migrate("new")
            # Old programs on the new schema.
            stack.check("check", stack.url, folder / "first")
            stack.check("begin", stack.url, folder / "second")
            replaced_under_load(stack, "new")
            stack.replace("gateway", "new")
            for state in ["first", "second"]:
                stack.check("check", stack.url, folder / state)
            stack.check("begin", stack.url, folder / "third")
            replaced_under_load(stack, "old")
            stack.replace("gateway", "old")
            for state in ["first", "second", "third"]:
                stack.check("check", stack.url, folder / state)
        finally:
            stack.stop()
    print("all passed")


main()
