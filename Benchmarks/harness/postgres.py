"""A PostgreSQL of the benchmark's own with default settings, and pgbench."""
import os, re, shutil, subprocess

from harness.machine import ENVIRONMENT, ROOT, cpu_seconds, fail, free_port, pinned, with_descendants

# As many as a service uses by default on this machine.
CONNECTIONS = min(16, max(4, 2 * len(os.sched_getaffinity(0))))


class Postgres:
    """`stop` may be called at any time, also when `start` has not finished."""

    name = "postgres"

    def __init__(self, folder):
        self.folder, self.data, self.port = folder, folder / "postgres", free_port()
        programs = subprocess.run([ROOT / "scripts/postgres-bin"], capture_output=True, text=True)
        if programs.returncode:
            fail("PostgreSQL is not installed")
        self.programs = programs.stdout.strip()
        # PostgreSQL refuses to run as root.
        self.as_owner = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []

    def start(self):
        self.data.mkdir(mode=0o700)
        if self.as_owner:
            shutil.chown(self.data, "postgres")
        self.control("initdb", "-o", "-U kith -A trust -E UTF8 --locale=C")
        with open(self.data / "postgresql.conf", "a") as settings:
            settings.write(f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = ''\n"
                           "max_connections = 200\n")
        self.control("start", "-w", "-l", self.data / "log")
        self.run("createdb", "kith")
        self.process = int((self.data / "postmaster.pid").read_text().splitlines()[0])

    def control(self, *arguments):
        command = [*self.as_owner, f"{self.programs}/pg_ctl", *arguments, "-D", self.data]
        # Not through pipes: the server would keep them open.
        with open(self.folder / "pg_ctl.log", "w") as log:
            status = subprocess.run(command, cwd="/", env=ENVIRONMENT | {"LC_ALL": "C"}, stdout=log, stderr=log)
        if status.returncode:
            fail(f"pg_ctl {arguments[0]}:\n{(self.folder / 'pg_ctl.log').read_text()}")

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.control("stop", "-w", "-m", "immediate")

    @property
    def url(self):
        return f"postgresql://kith@127.0.0.1:{self.port}/kith"

    @property
    def processes(self):
        return with_descendants(self.process)

    def cpu_seconds(self):
        return cpu_seconds(self.processes)

    def run(self, program, *arguments, core=None, environment=None):
        command = [f"{self.programs}/{program}", "-h", "127.0.0.1", "-p", str(self.port), "-U", "kith", *arguments]
        output = subprocess.run(
            pinned(command, core), env=ENVIRONMENT | (environment or {}), capture_output=True, text=True)
        if output.returncode:
            fail(f"{program}: {output.stderr[-2000:]}")
        return output.stdout

    def sql(self, text):
        """Runs statements, and returns the output without headers."""
        return self.run("psql", "-d", "kith", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text).strip()

    def pgbench(self, script, schema, variables, seconds, core=None):
        """Transactions a second, and the CPU seconds of PostgreSQL for each."""
        definitions = [part for name, value in variables.items() for part in ("-D", f"{name}={value}")]
        before = self.cpu_seconds()
        output = self.run(
            "pgbench", "-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", "1", "-T", str(seconds), *definitions,
            "-f", str(script), "kith", core=core, environment={"PGOPTIONS": f"-c search_path={schema}"})
        done = int(re.search(r"actually processed: (\d+)", output)[1])
        if not done or not re.search(r"number of failed transactions: 0 ", output):
            fail(f"pgbench {script.name}:\n{output}")
        rate = float(re.search(r"tps = ([\d.]+) \(without", output)[1])
        return rate, (self.cpu_seconds() - before) / done
