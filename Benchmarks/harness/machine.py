"""The machine: its cores, ports, and what a process uses."""
import contextlib, dataclasses, os, pathlib, socket, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "Benchmarks"
# Nothing else of the caller's environment reaches the programs.
ENVIRONMENT = {"PATH": os.environ["PATH"] + ":/usr/sbin"}


def fail(text):
    sys.exit(f"Benchmarks: {text}")


def warn(text):
    print(f"\n!!! {text}\n", file=sys.stderr, flush=True)


def available_cores():
    return sorted(os.sched_getaffinity(0))


@dataclasses.dataclass(frozen=True)
class Placement:
    """Which cores the measured programs and everything else may use; None is all."""

    name: str
    server: int | None = None
    others: int | None = None

    @property
    def server_cores(self):
        return available_cores() if self.server is None else [self.server]

    def pin_others(self, processes):
        """Moves running processes, which start new ones on the same cores."""
        cores = available_cores() if self.others is None else [self.others]
        for process in processes:
            # A worker of PostgreSQL may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(process, cores)


def placements():
    """All programs on all cores; and, with two cores or more, the measured programs on one and the rest on another."""
    cores = available_cores()
    free = Placement(f"{len(cores)} cores")
    return [free] if len(cores) == 1 else [free, Placement("one core each", cores[0], cores[1])]


def pinned(command, core):
    return command if core is None else ["taskset", "-c", str(core), *command]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def with_descendants(process):
    """The process ids of a process and of all that it has started."""
    found = [process]
    for number in found:
        try:
            for task in os.listdir(f"/proc/{number}/task"):
                children = pathlib.Path(f"/proc/{number}/task/{task}/children").read_text()
                found += [int(child) for child in children.split()]
        except OSError:
            continue  # It has just ended.
    return found


def cpu_seconds(processes):
    """User and system time of all threads so far, and of their children that have ended."""
    ticks = 0
    for process in processes:
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has just ended: its parent has its time.
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_megabytes(processes):
    states = [pathlib.Path(f"/proc/{process}/status").read_text() for process in processes]
    return sum(int(state.partition("VmRSS:")[2].split()[0]) for state in states) / 1024


def prepare(*packages):
    """Installs system packages that are missing."""
    subprocess.run([ROOT / "scripts/prepare", *packages], check=True)


def commit():
    command = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude", "*"]
    output = subprocess.run(command, capture_output=True, text=True)
    return output.stdout.strip() or "unknown"
