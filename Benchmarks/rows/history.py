"""A page of the credits history in the middle of a million entries, and the balance beside it."""
import statistics, time

from harness import data
from harness.report import Goal, Values
from harness.services import session_id, user_id
from harness.tokens import access_token

REQUESTS = 50
BALANCES = 2000


def history(bench):
    """History, 5 entries from the middle of 1,000,000"""
    postgres = bench.database(data.insert_accounts, data.insert_credits, data.insert_history)
    auth = bench.start("kith-auth", postgres)
    credits = bench.start("kith-credits", postgres, peers=[auth])
    bearer = bearer_of(bench, data.HISTORIAN)
    milliseconds = []
    for number in range(REQUESTS):
        # Another page each time.
        path = f"/api/v1/credits/history?limit=5&offset={data.HISTORY // 2 + 1000 * number}"
        start = time.monotonic()
        status, body = credits.request("GET", path, bearer)
        milliseconds.append((time.monotonic() - start) * 1000)
        credits.expect(f"GET {path}", (200, 5), (status, body.count(b'"amount"')))
    bench.report.add(
        "history", "history, 5 entries from the middle of 1,000,000", f"{REQUESTS} requests, one at a time",
        Values(milliseconds, 1, " ms"), Goal("≤", 5, " ms"))


def balance_of_many(bench):
    """Balance of a user with 1,000,000 ledger rows, and of one with 10"""
    postgres = bench.database(data.insert_accounts, data.insert_credits, data.insert_history)
    auth = bench.start("kith-auth", postgres)
    credits = bench.start("kith-credits", postgres, peers=[auth])
    milliseconds = {user: [] for user in (data.HISTORIAN, data.NOVICE)}
    bearers = {user: bearer_of(bench, user) for user in milliseconds}
    for _ in range(BALANCES):
        for user, times in milliseconds.items():
            start = time.monotonic()
            status, _ = credits.request("GET", "/api/v1/credits/balance", bearers[user])
            times.append((time.monotonic() - start) * 1000)
            credits.expect("GET /api/v1/credits/balance", 200, status)
    many, few = (statistics.median(milliseconds[user]) for user in (data.HISTORIAN, data.NOVICE))
    bench.report.add(
        "balance-size", "balance with 1,000,000 ledger rows : with 10", f"{BALANCES} requests each, one at a time",
        Values([many / few]), Goal("≤", 1.1), f"median {many:.3f} ms : {few:.3f} ms")


def bearer_of(bench, user):
    token = access_token(bench.kith.jwt_secret, user_id(user), session_id(user))
    return {"Authorization": f"Bearer {token}"}
