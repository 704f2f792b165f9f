"""Spends on SQLite, and a tight loop in C with the same statements on the same file."""
import re, subprocess

from harness.machine import BENCHMARKS, ENVIRONMENT, available_cores, fail, warn
from harness.report import Goal, Values

LINE = re.compile(r"(\d+) connections?, round \d+: +([\d.]+) requests/s.*C loop +([\d.]+) transactions/s")


def sqlite(bench):
    """Spends on SQLite, and a tight loop in C"""
    script = BENCHMARKS / "sqlite/run"
    if not script.exists():
        return warn("Benchmarks/sqlite/run does not exist: this row is left out")
    environment = {"KITH": bench.kith.program("kith"), "ROUNDS": bench.rounds, "SECONDS_EACH": bench.seconds,
                   "TMPDIR": bench.folder}
    output = subprocess.run(
        [script], env=ENVIRONMENT | {name: str(value) for name, value in environment.items()},
        capture_output=True, text=True)
    results = {}
    for connections, requests, transactions in LINE.findall(output.stdout):
        results.setdefault(int(connections), []).append((float(requests), float(transactions)))
    if output.returncode or not results:
        fail(f"Benchmarks/sqlite/run:\n{output.stdout[-1000:]}{output.stderr[-1000:]}")
    for connections, rounds in results.items():
        requests, transactions = (Values(list(values)).median for values in zip(*rounds))
        bench.report.add(
            "sqlite", f"spend on SQLite : loop in C, {connections} connection{'s' if connections > 1 else ''}",
            f"{len(available_cores())} cores", Values([one / other for one, other in rounds]),
            Goal("≥", 0.6) if connections == 32 else None, f"{requests:,.0f}/s : {transactions:,.0f}/s")
