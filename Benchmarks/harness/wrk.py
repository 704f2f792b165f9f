"""Load: wrk with the scripts of this folder."""
import dataclasses, json, subprocess

from harness.machine import BENCHMARKS, ENVIRONMENT, fail, pinned, warn


@dataclasses.dataclass(frozen=True)
class Load:
    """The result of one run. Times are in milliseconds, CPU times in microseconds for each request, by program."""

    requests: int
    rate: float
    p50: float
    p99: float
    cpu: dict


def load(program, script, seconds, connections=32, core=None, variables=None, watched=()):
    """Sends what `script` (below Benchmarks) says for some seconds.

    `variables` are environment variables of the script; `watched` are the programs whose CPU time is counted.
    """
    environment = {"PHONE": BENCHMARKS / "harness/phone.lua"} | (variables or {})
    before = [other.cpu_seconds() for other in watched]
    output = subprocess.run(
        pinned(["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s",
                "-s", str(BENCHMARKS / script), f"http://127.0.0.1:{program.port}"], core),
        env=ENVIRONMENT | {name: str(value) for name, value in environment.items()}, capture_output=True, text=True)
    after = [other.cpu_seconds() for other in watched]
    program.require_running()
    _, found, line = output.stdout.partition("RESULT ")
    if not found:
        fail(f"wrk {script} on {program}: {output.stdout[-500:]}{output.stderr[-500:]}\n{program.last_words}")
    result = json.loads(line)
    errors = {kind: count for kind, count in result["errors"].items() if count}
    if errors:
        warn(f"{program}, {script}: errors {errors} in {result['requests']} requests: this figure is not valid\n"
             f"{program.last_words[-600:]}")
    if not result["requests"]:
        fail(f"{program}, {script}: no response\n{program.last_words}")
    cpu = {other.name: (end - start) / result["requests"] * 1e6 for other, start, end in zip(watched, before, after)}
    return Load(result["requests"], result["requests"] / result["seconds"], result["p50"], result["p99"], cpu)
