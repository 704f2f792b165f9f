"""The gateway, HAProxy with the same job, and nginx and Caddy as plain proxies, in front of the same upstream."""
import select, socket, subprocess, time

from harness.machine import ROOT, available_cores, fail, placements, prepare, warn
from harness.proxies import BALANCE, DOWN, MEGABYTE, SAME_JOB, SMALL, UP, Proxies
from harness.report import Goal, Values
from harness.services import USERS

WARM_UP = 1
# wrk's connections, path, bytes up, and milliseconds at most between a response and the next request.
LOADS = {
    "200 bytes, 1 connection": (1, SMALL, 0, 0),
    "200 bytes, 32 connections that pause": (32, SMALL, 0, 10),
    "200 bytes, 256 connections": (256, SMALL, 0, 0),
    "1 MB up, 32 connections": (32, UP, MEGABYTE, 0),
    "1 MB down, 32 connections": (32, DOWN, 0, 0),
}
IDLE_CONNECTIONS = 10_000


def gateway(bench):
    """The gateway and HAProxy with their logs: requests, CPU time, p99 at 32 connections"""
    prepare("nginx", "haproxy")
    for placement in reversed(placements()):
        for is_logging in (True, False):
            proxies = Proxies(bench, placement, USERS)
            running = {name: proxies.start(name, is_logging) for name in SAME_JOB}
            rounds = [measure_in_turn(proxies, running, bench, number) for number in range(bench.rounds)]
            if is_logging:
                for name, program in running.items():
                    proxies.verify_log(program, sum(results[name].requests for results in rounds))
            bench.stop(*running.values(), proxies.upstream)
            show(bench, placement, is_logging, rounds)


def measure_in_turn(proxies, running, bench, number):
    """The results of one round by program, each time beginning with another one."""
    names = list(running)
    first = number % len(names)
    results = {}
    for name in names[first:] + names[:first]:
        proxies.load(running[name], WARM_UP)
        results[name] = proxies.load(running[name], bench.seconds)
    return results


def show(bench, placement, is_logging, rounds):
    """The ratios of a placement; the goals are for one core each, with logs."""
    def ratios(of):
        return Values([of(results["kith-gateway"]) / of(results["haproxy"]) for results in rounds])

    def median(name, of, digits):
        return f"{Values([of(results[name]) for results in rounds]).median:,.{digits}f}"

    columns = [
        ("requests", lambda result: result.rate, Goal("≥", 1.2), 0, "/s"),
        ("CPU time", lambda result: sum(result.cpu.values()), Goal("≤", 0.85), 1, " µs"),
        ("p99", lambda result: result.p99, Goal("≤", 1.3), 2, " ms"),
    ]
    for what, of, goal, digits, unit in columns:
        bench.report.add(
            "gateway", f"gateway : HAProxy, 32 connections, {what}",
            placement.name + ("" if is_logging else ", without log"), ratios(of),
            goal if is_logging and placement.server is not None else None,
            f"{median('kith-gateway', of, digits)}{unit} : {median('haproxy', of, digits)}{unit}")


def proxies(bench):
    """More loads, also of nginx and Caddy as plain proxies, and 10,000 idle connections"""
    prepare("nginx", "haproxy")
    names = ["haproxy", "kith-gateway", "nginx"]
    if subprocess.run([ROOT / "scripts/prepare", "caddy"]).returncode:
        warn("Caddy cannot be installed here: it is left out")
    else:
        names.append("caddy")
    placement = placements()[0]
    started = Proxies(bench, placement, USERS)
    running = {name: started.start(name) for name in names}
    for label, (connections, path, upload, pause) in LOADS.items():
        results = {name: [] for name in names}
        for number in range(bench.rounds):
            # It is never the same one that begins.
            for name in names[number % len(names):] + names[:number % len(names)]:
                results[name].append(
                    started.load(running[name], bench.seconds, connections, path, upload, pause))
        for name in names[1:]:
            pairs = list(zip(results[name], results["haproxy"]))
            figures = ", ".join(
                f"{other} {Values([one.rate for one in results[other]]).median:,.0f}/s "
                f"p99 {Values([one.p99 for one in results[other]]).median:.1f} ms" for other in (name, "haproxy"))
            cpu = Values([sum(one.cpu.values()) / sum(other.cpu.values()) for one, other in pairs])
            bench.report.add(
                "proxies", f"{name} : HAProxy, {label}", placement.name,
                Values([one.rate / other.rate for one, other in pairs]), figures=f"CPU time {cpu}; {figures}")
    bench.stop(*running.values())
    for name in SAME_JOB:
        idle(bench, started, name)


def idle(bench, started, name):
    """Memory of a new process before and with connections that have each made one request."""
    proxy = started.start(name)
    request = (f"GET {SMALL} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {started.token}\r\n\r\n").encode()
    before, clients, poll = proxy.worker_memory(), [], select.poll()
    try:
        for index in range(IDLE_CONNECTIONS):
            # One address has some 28,000 ports at most.
            source = (f"127.0.0.{2 + index % 8}", 0)
            client = socket.create_connection(("127.0.0.1", proxy.port), timeout=10, source_address=source)
            clients.append(client)
            poll.register(client, select.POLLIN)
            client.sendall(request)
            response = b""
            while not response.endswith(BALANCE.encode()):
                part = client.recv(4096)
                if not part:
                    fail(f"{proxy}: closed connection {index + 1} after {response[:100]}")
                response += part
        time.sleep(2)
        if closed := len(poll.poll(0)):
            warn(f"{proxy}: {closed} idle connections have been closed: this figure is not valid")
        after = proxy.worker_memory()
    finally:
        for client in clients:
            client.close()
    bench.report.add(
        "proxies", f"{name}, {IDLE_CONNECTIONS:,} idle connections", f"{len(available_cores())} cores",
        Values([(after - before) * 1024 / IDLE_CONNECTIONS], 1, " KB each"), figures=f"{before:.1f} → {after:.1f} MB")
    bench.stop(proxy)
