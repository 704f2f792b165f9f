"""Requests to a service, and pgbench with the same statements in the same transactions on the same PostgreSQL."""
import dataclasses
from collections.abc import Callable

from harness import data
from harness.machine import BENCHMARKS, placements, warn
from harness.postgres import CONNECTIONS
from harness.report import Goal, Values
from harness.services import USERS
from harness.statements import StatementLog, differences, filled, shapes_of_script
from harness.wrk import load

# Seconds of load before a measurement: connections are open and plans made.
WARM_UP = 1
# Until each of 1,000 users has asked for their lists.
WARM_UP_PEOPLE = 2


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A load of a service, and the script of pgbench with the same statements: `script`.lua and `sql`.sql."""

    row: str
    what: str
    goal: float
    script: str
    service: str
    sql: str = ""
    schema: str = ""
    peers: tuple = ()
    users: int = USERS
    # Variables of the Lua script and of pgbench that all runs share.
    variables: dict = dataclasses.field(default_factory=dict)
    # Seconds before each measurement; 0 without a warm-up, for users who are different in each run.
    warm_up: int = WARM_UP
    # How many requests do what one run of pgbench's script does.
    requests: int = 1
    # Called before each run with the number of the run, for rows that each run uses up.
    before_run: Callable = lambda postgres, run, seconds: None


def lists(bench, row, what, goal, is_cold):
    comparison = Comparison(
        row, what, goal, "lists/index", "lists", sql="lists/index-people" if is_cold else "lists/index",
        schema="lists,auth", peers=("auth",), users=data.ASKERS if is_cold else USERS,
        warm_up=0 if is_cold else WARM_UP_PEOPLE)
    compare(bench, comparison, [data.insert_accounts, data.insert_lists])


def lists_changing(bench):
    """Index of 10 lists, 10,000 users in turn, who share them with 100,000 people"""
    lists(bench, "lists-cold", "index of 10 lists, people changing", 0.6, is_cold=True)


def lists_recent(bench):
    """The same for 1,000 users whose people were asked for a moment ago"""
    lists(bench, "lists-warm", "index of 10 lists, people asked a moment ago", 0.75, is_cold=False)


def task(bench):
    """A new task in one of 9,000 lists"""
    compare(bench, Comparison(
        "task", "new task", 0.6, "lists/create", "lists", schema="lists", peers=("auth",),
        variables={"OWN_LISTS": data.OWN_LISTS}), [data.insert_accounts, data.insert_lists])


def balance(bench):
    """Balance of credits"""
    compare(bench, Comparison("balance", "balance", 0.75, "credits/balance", "credits", schema="credits",
                              peers=("auth",)), [data.insert_accounts, data.insert_credits])


def spend(bench):
    """A spend by another service"""
    compare(bench, spending("spend", "spend", 1.0, "credits/spend"), [data.insert_accounts, data.insert_credits])


def spend_keyed(bench):
    """A spend with an Idempotency-Key in the header"""
    comparison = spending("spend-keyed", "spend with `Idempotency-Key` in the header", 0.9, "credits/spend-keyed", "1")
    compare(bench, comparison, [data.insert_accounts, data.insert_credits])


def hold(bench):
    """A hold by another service, and its capture"""
    compare(bench, Comparison(
        "hold", "hold, then capture", 0.7, "credits/hold", "credits", schema="credits", peers=("auth",), requests=2),
        [data.insert_accounts, data.insert_credits, data.insert_holds])


def spending(row, what, goal, sql, keyed="0"):
    return Comparison(row, what, goal, "credits/spend", "credits", sql=sql, schema="credits", peers=("auth",),
                      variables={"KEYED": keyed})


def refresh(bench):
    """The exchange of a refresh token"""
    def insert(postgres, run, seconds):
        data.insert_sessions(postgres, run, count=4000 * seconds)

    compare(bench, Comparison("refresh", "refresh", 0.9, "auth/refresh", "auth", schema="auth", before_run=insert),
            [data.insert_accounts])


def plans(bench):
    """The ten plans of a user over /rest/v1"""
    compare(bench, Comparison("plans", "10 plans of a user", 0.6, "adventures/plans", "adventures", schema="adventures",
                              peers=("auth",)), [data.insert_accounts, data.insert_plans])


def place(bench):
    """A new place over /rest/v1"""
    compare(bench, Comparison("place", "new place", 0.6, "adventures/place", "adventures", schema="adventures",
                              peers=("auth",)), [data.insert_accounts, data.insert_plans])


def compare(bench, comparison, inserts):
    postgres = bench.database(*inserts)
    compared = Compared(bench, comparison, postgres)
    for placement in placements():
        placement.pin_others(postgres.processes)
        compared.run(placement)


@dataclasses.dataclass(frozen=True)
class Round:
    """The loads with and without log; pgbench's transactions a second, and PostgreSQL's µs for each."""

    loads: dict
    transactions: float
    script_cpu: float


class Compared:
    """Measures a comparison."""

    def __init__(self, bench, comparison, postgres):
        self.bench, self.comparison, self.postgres = bench, comparison, postgres
        self.text = (BENCHMARKS / f"{comparison.sql or comparison.script}.sql").read_text()
        self.sql = bench.folder / f"{comparison.row}.sql"
        self.sql.write_text(filled(self.text, "text" if comparison.service == "credits" else "uuid"))
        self.users = bench.kith.users_file(f"users-{comparison.users}", range(1, comparison.users + 1))

    def run(self, placement):
        services = {is_logging: self.start(placement, is_logging) for is_logging in (True, False)}
        self.check_statements(services[True])
        rounds = [self.round(services, placement) for _ in range(self.bench.rounds)]
        self.bench.stop(*(program for programs in services.values() for program in programs[::-1]))
        for is_logging in services:
            self.show(placement, is_logging, rounds)

    def round(self, services, placement):
        """The service with its log, pgbench, and the service without its log."""
        logging = self.load(services[True], placement)
        transactions, cpu_seconds = self.pgbench(placement)
        return Round({True: logging, False: self.load(services[False], placement)}, transactions, cpu_seconds * 1e6)

    def show(self, placement, is_logging, rounds):
        loads = [one.loads[is_logging] for one in rounds]
        cpu = ", ".join(
            f"{name} {Values([result.cpu[name] for result in loads]).median:,.0f} µs" for name in loads[0].cpu)
        self.bench.report.add(
            self.comparison.row, self.comparison.what, placement.name + ("" if is_logging else ", without log"),
            Values([result.rate / self.comparison.requests / one.transactions for result, one in zip(loads, rounds)]),
            Goal("≥", self.comparison.goal) if is_logging else None,
            f"{Values([result.rate for result in loads]).median:,.0f}/s : "
            f"pgbench {Values([one.transactions for one in rounds]).median:,.0f}/s; "
            f"CPU {cpu}; postgres for pgbench {Values([one.script_cpu for one in rounds]).median:,.0f} µs")

    def start(self, placement, is_logging):
        """The programs that serve the request: the service, and those that it calls."""
        peers = [self.bench.start(f"kith-{name}", self.postgres, is_logging, placement.server)
                 for name in self.comparison.peers]
        service = self.bench.start(
            f"kith-{self.comparison.service}", self.postgres, is_logging, placement.server, peers=peers)
        return [service, *peers]

    def load(self, programs, placement):
        comparison, number = self.comparison, self.bench.next_run()
        if comparison.warm_up:
            self.wrk(programs, placement, comparison.warm_up, number)
            number = self.bench.next_run()
        return self.wrk(programs, placement, self.bench.seconds, number)

    def wrk(self, programs, placement, seconds, number, connections=32):
        kith = self.bench.kith
        self.comparison.before_run(self.postgres, number, seconds)
        variables = {
            "USERS": self.users, "SERVICE_KEY": kith.keys["gateway"], "CALLER_KEY": kith.keys["auth"], "RUN": number,
            "GROUP": number, "FIRST": 3000 * number} | self.comparison.variables
        return load(programs[0], f"{self.comparison.script}.lua", seconds, connections, placement.others, variables,
                    watched=[*programs, self.postgres])

    def pgbench(self, placement):
        """pgbench takes the place of the service: its core is the service's."""
        number, seconds = self.bench.next_run(), self.bench.seconds
        self.comparison.before_run(self.postgres, number, seconds)
        variables = {"users": self.comparison.users, "clients": CONNECTIONS, "run": number, "count": 0} | {
            name.lower(): value for name, value in self.comparison.variables.items()}
        return self.postgres.pgbench(self.sql, self.comparison.schema, variables, seconds, placement.server)

    def check_statements(self, programs):
        """Warns when the script no longer has the statements of a request."""
        placement = placements()[0]
        self.wrk(programs, placement, WARM_UP, self.bench.next_run())
        with StatementLog(self.postgres) as log:
            sent = self.wrk(programs, placement, 1, self.bench.next_run(), connections=1)
        if lines := differences(log.shapes(sent.requests / self.comparison.requests), shapes_of_script(self.text)):
            warn(f"{self.sql.name} has other statements than a request (+ only the service, - only the script):\n"
                 + "\n".join(lines))
