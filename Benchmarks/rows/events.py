"""What the events of a write cost."""
import time

from harness import data
from harness.machine import fail, placements
from harness.report import Goal, Values
from harness.services import USERS
from harness.wrk import load

WARM_UP = 1
DELIVERY_SECONDS = 60
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
        watched = [postgres, events]
        rounds = [in_turn(bench, {"with": recording, "without": silent}, placement, watched, number)
                  for number in range(bench.rounds)]
        bench.stop(silent, recording, events, auth)
        show(bench, placement, rounds)


def in_turn(bench, services, placement, watched, number):
    """The results of one round by service, each time beginning with the other one, as the lists become longer."""
    names = list(services) if number % 2 == 0 else list(services)[::-1]
    return {name: tasks(bench, services[name], placement, watched) for name in names}


def tasks(bench, lists, placement, watched):
    """The load, and how many events had not been delivered at its end."""
    postgres = watched[0]
    users = bench.kith.users_file(f"users-{USERS}", range(1, USERS + 1))
    variables = {"USERS": users, "SERVICE_KEY": bench.kith.keys["gateway"], "OWN_LISTS": data.OWN_LISTS}
    for seconds in (WARM_UP, bench.seconds):
        result = load(lists, "lists/create.lua", seconds, core=placement.others,
                      variables=variables | {"RUN": bench.next_run()}, watched=[lists, *watched])
    left = waiting_events(postgres)
    # The next load is not measured while events of this one are being delivered.
    deadline = time.monotonic() + DELIVERY_SECONDS
    while waiting_events(postgres):
        if time.monotonic() > deadline:
            fail(f"{lists}: events were not delivered within {DELIVERY_SECONDS} seconds")
        time.sleep(0.2)
    return result, left


def waiting_events(postgres):
    return int(postgres.sql("select count(*) from lists.event_outbox"))


def show(bench, placement, rounds):
    results = {name: [one[name][0] for one in rounds] for name in ("with", "without")}
    left = Values([one["with"][1] for one in rounds]).median
    figures = "; ".join(
        f"{name} {Values([one.rate for one in loads]).median:,.0f}/s, CPU "
        + ", ".join(f"{program} {Values([one.cpu[program] for one in loads]).median:,.0f} µs"
                    for program in loads[0].cpu)
        for name, loads in results.items())
    bench.report.add(
        "events-cost", "new task, with its event : without", placement.name,
        Values([one.rate / other.rate for one, other in zip(results["with"], results["without"])]), GOAL,
        f"{figures}; {left:,.0f} events left to deliver")
