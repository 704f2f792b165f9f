"""What the events of a write cost."""
from harness import data
from harness.machine import placements
from harness.report import Goal, Values
from harness.services import USERS
from harness.wrk import load

WARM_UP = 1
# A write that makes an event may cost 15 % more.
GOAL = Goal("≥", 0.87)


def cost(bench):
    """A new task with its event, and without: the latter where EVENTS_URL is not set"""
    postgres = bench.database(data.insert_accounts, data.insert_lists)
    for placement in placements():
        placement.pin_others(postgres.processes)
        auth = bench.start("kith-auth", postgres, core=placement.others)
        events = bench.start("kith-events", postgres, core=placement.others, peers=[auth])
        recording = bench.start("kith-lists", postgres, core=placement.server, peers=[auth, events])
        silent = bench.start("kith-lists", postgres, core=placement.server, peers=[auth])
        rounds = [[tasks(bench, lists, placement, [lists, postgres]) for lists in (recording, silent)]
                  for _ in range(bench.rounds)]
        bench.stop(silent, recording, events, auth)
        show(bench, placement, rounds)


def tasks(bench, lists, placement, watched):
    users = bench.kith.users_file(f"users-{USERS}", range(1, USERS + 1))
    variables = {"USERS": users, "SERVICE_KEY": bench.kith.keys["gateway"], "OWN_LISTS": data.OWN_LISTS}
    for seconds in (WARM_UP, bench.seconds):
        result = load(lists, "lists/create.lua", seconds, core=placement.others,
                      variables=variables | {"RUN": bench.next_run()}, watched=watched)
    return result


def show(bench, placement, rounds):
    recording, silent = zip(*rounds)
    figures = "; ".join(
        f"{name} {Values([one.rate for one in results]).median:,.0f}/s, CPU "
        + ", ".join(f"{program} {Values([one.cpu[program] for one in results]).median:,.0f} µs"
                    for program in results[0].cpu)
        for name, results in (("with", recording), ("without", silent)))
    bench.report.add(
        "events-cost", "new task, with its event : without", placement.name,
        Values([one.rate / other.rate for one, other in rounds]), GOAL, figures)
