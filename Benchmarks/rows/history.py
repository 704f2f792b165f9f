"""A page of the credits history in the middle of a million entries."""
import time

from harness import data
from harness.report import Goal, Values
from harness.services import session_id, user_id
from harness.tokens import access_token

REQUESTS = 50


def history(bench):
    """History, 5 entries from the middle of 1,000,000"""
    postgres = bench.database(data.insert_accounts, data.insert_credits, data.insert_history)
    auth = bench.start("kith-auth", postgres)
    credits = bench.start("kith-credits", postgres, peers=[auth])
    user, session = user_id(data.HISTORIAN), session_id(data.HISTORIAN)
    bearer = {"Authorization": f"Bearer {access_token(bench.kith.jwt_secret, user, session)}"}
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
