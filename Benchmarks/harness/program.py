"""A program that is measured, or that another one needs: started with its output in a file, as an operator does."""
import copy, http.client, os, subprocess, time

from harness.machine import ENVIRONMENT, cpu_seconds, fail, pinned, resident_megabytes, warn, with_descendants


class Program:
    """A running program, with the processes that it has started."""

    def __init__(self, name, command, folder, port=None, environment=None, core=None):
        self.name, self.port, self.folder = name, port, folder
        self.log = folder / f"{name}.log"
        self.started_at = time.monotonic()
        with open(self.log, "ab") as log:
            # In a session of its own: Ctrl-C reaches the benchmark only, which then stops the program.
            self.process = subprocess.Popen(
                pinned([str(part) for part in command], core), cwd=folder,
                env=ENVIRONMENT | {key: str(value) for key, value in (environment or {}).items()},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def __str__(self):
        return self.name

    @property
    def last_words(self):
        with open(self.log, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
            return log.read().decode(errors="replace")

    @property
    def processes(self):
        return with_descendants(self.process.pid)

    def cpu_seconds(self):
        return cpu_seconds(self.processes)

    def memory(self):
        """Resident megabytes of all its processes."""
        return resident_megabytes(self.processes)

    def worker_memory(self):
        """Resident megabytes of the processes that it has started; of itself when there are none."""
        return resident_megabytes(self.processes[1:] or self.processes)

    def request(self, method, path, headers=None, body=None, timeout=10):
        """The status and the body of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def wait(self, path="/health", headers=None, seconds=30):
        """Waits for the first 200, and returns the seconds since the start."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                status, body = self.request("GET", path, headers)
            except (OSError, http.client.HTTPException) as error:
                status, body = None, str(error).encode()
            if status == 200:
                return time.monotonic() - self.started_at
            self.require_running()
            if time.monotonic() > deadline:
                fail(f"{self}: {status} {body[:300]} to GET {path}\n{self.last_words}")
            time.sleep(0.002)

    def expect(self, what, wanted, found):
        if found != wanted:
            fail(f"{self}: {what}: {str(found)[:300]} instead of {str(wanted)[:300]}\n{self.last_words}")

    def require_running(self):
        if self.process.poll() is not None:
            fail(f"{self} has ended with {self.process.returncode}:\n{self.last_words}")

    def stop(self):
        if self.process.poll() is not None:
            return warn(f"{self} had ended by itself:\n{self.last_words}")
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            warn(f"{self} did not stop within 15 seconds")
            self.process.kill()
            self.process.wait()
        self.log.unlink(missing_ok=True)

    def at(self, port):
        """The same program, asked on another of its ports."""
        other = copy.copy(self)
        other.port = port
        return other
