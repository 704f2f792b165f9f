"""One run of the benchmark: what is running, and what has been measured."""
import pathlib, resource, shutil, tempfile

from harness.machine import commit
from harness.postgres import Postgres
from harness.program import Program
from harness.report import Report
from harness.services import Kith


class Bench:
    """Stops and deletes everything at its end: `with Bench(…) as bench`."""

    def __init__(self, programs, options, row_names):
        self.options, self.rounds, self.seconds = options, options.rounds, options.seconds
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kith-bench."))
        # PostgreSQL may have another user.
        self.folder.chmod(0o711)
        self.report = Report(options.results, row_names, "given programs" if options.programs else commit())
        self.kith = Kith(programs, self.folder)
        self.running, self.postgres, self.inserted, self.run_count = [], None, set(), 1
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (65_536 if most < 0 else min(most, 65_536), most))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.stop(*self.running[::-1])
        finally:
            if self.postgres:
                self.postgres.stop()
            shutil.rmtree(self.folder, ignore_errors=True)

    def next_run(self):
        """A number that no other run of this benchmark has, from 2."""
        self.run_count += 1
        return self.run_count

    def start(self, name, *arguments, path="/health/ready", **settings):
        """Starts a program of Kith and waits until it is ready; see `Kith.launch`."""
        program = self.keep(self.kith.launch(name, *arguments, **settings))
        program.wait(path)
        return program

    def launch(self, name, command, **settings):
        """Starts another program."""
        return self.keep(Program(name, command, self.folder, **settings))

    def keep(self, program):
        self.running.append(program)
        return program

    def stop(self, *programs):
        for program in programs:
            self.running.remove(program)
            program.stop()

    def database(self, *inserts):
        """PostgreSQL with the tables of all services, and with what the functions `inserts` insert once."""
        if not self.postgres:
            self.postgres = Postgres(self.folder)
            self.postgres.start()
            # Its services make their tables.
            self.stop(self.start("kith", self.postgres))
        for insert in inserts:
            if insert not in self.inserted:
                insert(self.postgres)
                self.inserted.add(insert)
        return self.postgres

    def finish_row(self):
        """Programs of one row do not run on in the next one, and its results are kept."""
        self.stop(*self.running[::-1])
        self.report.write()
