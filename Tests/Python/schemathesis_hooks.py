"""Who calls while schemathesis makes up the calls: nobody, a user who also has the keys, or a system that acts for one.

A user's call carries what its operation's `security` asks for. Calls may end the session, or the account: after each that
could have, the user signs in anew, so that the next call is not refused for that. A system has a key instead of a bearer,
and names the user in every other call; else it names whom schemathesis made up.
"""

import os

import requests
import schemathesis
from schemathesis.core import NOT_SET

BASE = os.environ["KITH_BASE"]
CALLER = os.environ["KITH_CALLER"]
ADMIN_KEY = os.environ["KITH_ADMIN_KEY"]
SERVICE_KEY = os.environ["KITH_SERVICE_KEY"]

token = None
user = None
calls = 0


def signed_in():
    global token
    if token is None:
        answer = requests.post(
            BASE + "/api/v1/auth/dev/token", headers={"X-Admin-Key": ADMIN_KEY}, json={"email": "alice@example.com"}
        )
        answer.raise_for_status()
        token = answer.json()["access_token"]
    return token


def security(case):
    return case.operation.definition.raw.get("security", [])


def user_id():
    """Whose id stays the same; signing in brings a deactivated account back."""
    global user
    access = signed_in()
    if user is None:
        answer = requests.get(BASE + "/api/v1/auth/me", headers={"Authorization": f"Bearer {access}"})
        answer.raise_for_status()
        user = answer.json()["id"]
    return user


@schemathesis.hook
def before_call(context, case, kwargs):
    global calls
    # The gateway refuses bodies of GET before it looks at the path, so such a call could not find out about the method.
    if case.method.upper() in ("GET", "HEAD"):
        case.body = NOT_SET
    # A document cannot say that a preference leaves the body out.
    if case.method.upper() == "POST" and case.operation.path.startswith("/rest/v1/") and "Prefer" in (case.headers or {}):
        case.headers["Prefer"] += ", return=representation"
    if CALLER == "nobody":
        return
    schemes = {name for one in security(case) for name in one}
    if "adminKey" in schemes:
        case.headers["X-Admin-Key"] = ADMIN_KEY
    if "bearer" in schemes and not (CALLER == "system" and "serviceKey" in schemes):
        case.headers["Authorization"] = f"Bearer {signed_in()}"
    elif "serviceKey" in schemes:
        case.headers["X-Service-Key"] = SERVICE_KEY
        # Beside a bearer, also one that schemathesis made up, nobody is acted for.
        case.headers.pop("Authorization", None)
        calls += 1
        # Who names nobody is turned away, and rightly so.
        if "bearer" in schemes and (calls % 2 or not case.headers.get("X-User-ID")):
            case.headers["X-User-ID"] = user_id()


@schemathesis.hook
def after_call(context, case, response):
    global token
    if case.method.upper() != "GET" and response.status_code < 300:
        token = None


@schemathesis.check
def lets_in_who_may(ctx, response, case):
    """Nobody gets what wants a bearer or a key, and everybody gets what wants none. Users and systems are let in.

    Where a bearer is one way of several, such as a code in the body, nobody may be let in or turned away.
    """
    if case.method.upper() != case.operation.method.upper():
        return
    code = response.json().get("code") if response.status_code in (401, 403) else None
    if CALLER == "nobody" and security(case):
        assert {} in security(case) or response.status_code >= 400, f"Nobody is answered {response.status_code}"
    else:
        refusals = {"unauthorized", "invalid_token", "session_ended", "wrong_admin_key", "wrong_service_key"}
        assert code not in refusals, f"Turned away with {code}"
