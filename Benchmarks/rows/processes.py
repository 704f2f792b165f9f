"""Starts, and processes at rest."""
import subprocess, time

from harness.machine import free_port, is_free, placements, warn
from harness.report import Goal, Values
from harness.services import SERVICES, USERS
from harness.wrk import load

STARTS = 5
SETTLE_SECONDS, REST_SECONDS = 5, 30
DEFAULT_PORTS = range(8080, 8089)


def kith(bench):
    """`kith` as a newcomer starts it: start to healthy, memory and CPU at rest"""
    starts = {"ports of its own choice": {"PORT": free_port()} | {
        f"{name.upper()}_PORT": free_port() for name in SERVICES}}
    if all(is_free(port) for port in DEFAULT_PORTS):
        starts["default ports"] = {}
    else:
        warn(f"ports {DEFAULT_PORTS[0]} to {DEFAULT_PORTS[-1]} are in use: `kith` is not started on its default ports")
    program = None
    for how, ports in starts.items():
        milliseconds = []
        # The first start makes the database.
        for _ in range(1 + STARTS):
            if program:
                bench.stop(program)
            program = bench.launch(
                "kith", [bench.kith.program("kith")], port=ports.get("PORT", 8080),
                environment={"DATA_DIR": bench.folder / "kith-data"} | ports)
            milliseconds.append(program.wait("/health") * 1000)
        bench.report.add(
            "kith", "`kith`, start to healthy", f"{how}, {STARTS} starts", Values(milliseconds[1:], 0, " ms"),
            Goal("≤", 200, " ms"), f"the first {milliseconds[0]:.0f} ms")
    at_rest(bench, "kith", "`kith`", [program], "SQLite", Goal("≤", 60, " MB"), Goal("≤", 0.3, " %"))


def footprint(bench):
    """What each program takes on disk, and from its start to its first answer"""
    names = [f"kith-{name}" for name in ["gateway", *SERVICES]]
    sizes = {name: megabytes_without_symbols(bench.kith.program(name), bench.folder) for name in ["kith", *names]}
    largest = max(sizes, key=sizes.get)
    bench.report.add(
        "footprint", "the largest program on disk", "without symbols", Values([sizes[largest]], 0, " MB"),
        Goal("≤", 45, " MB"), ", ".join(f"{name} {megabytes:.0f}" for name, megabytes in sizes.items()))

    postgres = bench.database()
    milliseconds = {name: [] for name in names}
    for _ in range(STARTS):
        for name in names:
            program = bench.keep(bench.kith.launch(name, None if name == "kith-gateway" else postgres))
            # A gateway without services is alive, and not healthy.
            milliseconds[name].append(program.wait("/health/live" if name == "kith-gateway" else "/health") * 1000)
            bench.stop(program)
    medians = {name: Values(all, 0, " ms").median for name, all in milliseconds.items()}
    slowest = max(medians, key=medians.get)
    bench.report.add(
        "footprint", "start to the first answer, the slowest process", f"PostgreSQL, {STARTS} starts",
        Values(milliseconds[slowest], 0, " ms"), Goal("≤", 200, " ms"),
        ", ".join(f"{name} {median:.0f}" for name, median in medians.items()))


def megabytes_without_symbols(program, folder):
    stripped = folder / f"{program.name}-stripped"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    size = stripped.stat().st_size / 1_000_000
    stripped.unlink()
    return size


def apart(bench):
    """The gateway and all services at rest, a process each"""
    postgres = bench.database()
    ports = {name: free_port() for name in ["gateway", *SERVICES]}
    urls = {f"{name.upper()}_URL": f"http://127.0.0.1:{port}" for name, port in ports.items()}
    programs = [
        bench.keep(bench.kith.launch(
            f"kith-{name}", None if name == "gateway" else postgres, ports={"PORT": port}, environment=urls))
        for name, port in ports.items()]
    for program in programs:
        program.wait("/health/ready")
    at_rest(
        bench, "apart", f"{len(programs)} processes", programs, "PostgreSQL", Goal("≤", 320, " MB"), Goal("≤", 0.9, " %"))


def at_rest(bench, row, what, programs, how, memory_goal, cpu_goal):
    time.sleep(SETTLE_SECONDS)
    before = sum(program.cpu_seconds() for program in programs)
    time.sleep(REST_SECONDS)
    percent = 100 * (sum(program.cpu_seconds() for program in programs) - before) / REST_SECONDS
    memory = {program.name: program.memory() for program in programs}
    each = ", ".join(f"{name} {megabytes:.0f}" for name, megabytes in memory.items()) if len(memory) > 1 else ""
    bench.report.add(
        row, f"{what} at rest, resident memory", how, Values([sum(memory.values())], 0, " MB"), memory_goal, each)
    bench.report.add(row, f"{what} at rest, CPU", f"{how}, {REST_SECONDS} s", Values([percent], 2, " %"), cpu_goal)


def in_process(bench):
    """Requests to `kith` through its gateway, and to the service alone"""
    users = bench.kith.users_file(f"users-{USERS}", range(1, USERS + 1))
    for placement in placements():
        for is_logging in (True, False):
            kith = bench.start("kith", is_logging=is_logging, core=placement.server)
            service = kith.at(kith.settings["CREDITS_PORT"])
            through, alone = [], []
            for _ in range(bench.rounds):
                for program, results in ((kith, through), (service, alone)):
                    for seconds in (1, bench.seconds):
                        result = load(program, "gateway/load.lua", seconds, core=placement.others, watched=[kith],
                                      variables={"USERS": users, "PATH_OF_REQUESTS": "/api/v1/credits/costs"})
                    results.append(result)
            bench.stop(kith)
            figures = "; ".join(
                f"{name} {Values([one.rate for one in results]).median:,.0f}/s, "
                f"p99 {Values([one.p99 for one in results]).median:.1f} ms"
                for name, results in (("gateway", through), ("alone", alone)))
            bench.report.add(
                "in-process", "one process, gateway : service alone, 32 connections",
                placement.name + ("" if is_logging else ", without log"),
                Values([one.rate / other.rate for one, other in zip(through, alone)]),
                Goal("≥", 0.93) if is_logging else None, figures)
