#!/usr/bin/env python3
"""Uses a running Kith through its public port, as apps do, and remembers what it saw.

story.py begin URL STATE   two people sign up and use every service; what they see is written to the file STATE
story.py check URL STATE   they sign in again, and see the same
story.py load URL STATE SECONDS [WITHIN [REQUESTS [killed]]]
                           reads and writes all the time, and as many as REQUESTS: fails when one is answered by
                           something other than success (also by 429), or by 503 without Retry-After; with WITHIN, 503
                           may last for that many seconds; with `killed`, what a process had when it was killed may be
                           broken off, and a write answered by 502. SIGTERM ends it before SECONDS are over
"""
import http.client
import json
import os
import pathlib
import signal
import struct
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
import zlib

PASSWORD = "correct horse battery"
PLACES = ["The Mill", "The Pier"]


class Refused(Exception):
    def __init__(self, status, headers, body):
        super().__init__(f"{status}: {body[:300]}")
        self.status, self.headers = status, headers


class BrokenOff(Exception):
    """An answer ended before it was whole."""


class Browser:
    def __init__(self, url, token=None, waits=True, **headers):
        """With `waits` a request over a limit is sent again when it may be."""
        self.url, self.waits = url, waits
        self.headers = headers | ({"Authorization": f"Bearer {token}"} if token else {})

    def open(self, method, path, body=None, kind="application/json", **headers):
        """The answer, whose body is not read yet."""
        request = urllib.request.Request(
            self.url + path, body, {"Content-Type": kind, **self.headers, **headers}, method=method)
        try:
            return urllib.request.urlopen(request, timeout=35)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.headers, error.read().decode(errors="replace")) from None

    def send(self, method, path, body=None, kind="application/json", **headers):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        try:
            with self.open(method, path, body, kind, **headers) as reply:
                text = reply.read()
                return json.loads(text) if "json" in reply.headers.get("Content-Type", "") else text
        except Refused as error:
            if error.status != 429 or not self.waits:
                raise
            time.sleep(int(error.headers["Retry-After"]))
            return self.send(method, path, body, kind, **headers)

    def get(self, path):
        return self.send("GET", path)

    def post(self, path, body=None, **headers):
        return self.send("POST", path, body if body is not None else {}, **headers)


def refused(status, call):
    """Fails unless the call is refused with this status."""
    try:
        call()
    except Refused as error:
        assert error.status == status, error
    else:
        raise AssertionError(f"not refused with {status}")


def png():
    """A picture of 64 by 64 pixels."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + b"".join(bytes([x * 4, y * 4, 128]) for x in range(64)) for y in range(64))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def sign_in(url, email, waits=True):
    token = Browser(url).post("/api/v1/auth/sign_in", {"email": email, "password": PASSWORD})["token"]
    return Browser(url, token, waits)


def administrator(url, waits=True):
    return Browser(url, waits=waits, **{"X-Admin-Key": os.environ["ADMIN_API_KEY"]})


def seen(alice, bob, state):
    """What the two see of everything that they have made."""
    return {
        "me": alice.get("/api/v1/auth/me")["id"],
        "balance": alice.get("/api/v1/credits/balance"),
        "history": alice.get("/api/v1/credits/history"),
        "list": bob.get(f"/api/v1/lists/{state['list']}")["list"]["tasks_count"],
        "tasks": sorted(task["title"] for task in bob.get(f"/api/v1/lists/{state['list']}/tasks")["tasks"]),
        "group": alice.get(f"/api/groups/{state['group']}")["name"],
        "photo": len(Browser("").get(alice.get(state["photo"])["url"])),
        "collection": bob.get(f"/collections/{state['collection']}")["data"]["name"],
        "places": [place["name"] for place in alice.get("/rest/v1/saved_places?select=name&order=name")],
        "hunt": [hunt["title"] for hunt in bob.get(f"/rest/v1/scavenger_hunts?id=eq.{state['hunt']}&select=title")],
        "events": events(alice, state["places"], len(PLACES)),
        "timepoints": alice.get("/api/v1/users/me/timepoints")["total"],
    }


def events(browser, topic, count):
    """The kinds of the first events of a topic, which are kept for who comes back."""
    found = []
    # A comment comes every fifteen seconds: the stream does not end by itself.
    end = time.monotonic() + 30
    with browser.open("GET", f"/realtime/v1/events?topic={topic}", **{"Last-Event-ID": "0"}) as stream:
        for line in stream:
            if line.startswith(b"event:"):
                found.append(line[6:].decode().strip())
            if len(found) == count:
                return found
            if time.monotonic() > end:
                break
    raise AssertionError(f"{topic} has the events {found}")


def begin(url, path):
    tag = uuid.uuid4().hex[:8]
    state = {"tag": tag} | {name: f"{name}-{tag}@example.com" for name in ["alice", "bob"]}
    for name in ["alice", "bob"]:
        refused(401, lambda: Browser(url).post(
            "/api/v1/auth/sign_in", {"email": state[name], "password": PASSWORD}))
        Browser(url).post("/api/v1/auth/sign_up", {"user": {"email": state[name], "password": PASSWORD}})
    alice, bob = sign_in(url, state["alice"]), sign_in(url, state["bob"])

    # Credits: granted once under one key, whatever is repeated.
    user = alice.get("/api/v1/auth/me")["id"]
    for _ in range(2):
        grant(administrator(url), user, tag)
    refused(403, lambda: Browser(url, **{"X-Admin-Key": "wrong"}).post(
        "/api/v1/credits/admin/grant", {"user_id": user, "amount": 100}))

    # Lists: shared, and both add tasks.
    state["list"] = alice.post("/api/v1/lists", {"list": {"name": "Groceries"}})["list"]["id"]
    tasks = f"/api/v1/lists/{state['list']}/tasks"
    refused(404, lambda: bob.get(tasks))
    alice.post(f"/api/v1/lists/{state['list']}/memberships",
               {"membership": {"user_identifier": state["bob"], "role": "editor"}})
    for number in range(10):
        (alice, bob)[number % 2].post(tasks, {"task": {"title": f"Task {number}"}})
    # What a load writes to.
    state["written"] = alice.post("/api/v1/lists", {"list": {"name": "Written"}})["list"]["id"]

    # Groups: photos, which are decoded and stored in the volume. The decoder of those that iPhones take is a file apart
    # from libvips.
    state["group"] = alice.post("/api/groups", {"name": "The Cabin"})["id"]
    photo = alice.send("POST", f"/api/photos/upload?group_id={state['group']}", png(), "image/png")["photo_id"]
    state["photo"] = f"/api/photos/{photo}"
    refused(404, lambda: bob.get(state["photo"]))
    boat = alice.post("/api/groups", {"name": "The Boat"})["id"]
    heic = pathlib.Path(__file__).with_name("photo.heic").read_bytes()
    alice.send("POST", f"/api/photos/upload?group_id={boat}", heic, "image/heic")

    # Collections and invites.
    state["collection"] = alice.post("/collections", {"name": "Marbles"})["data"]["id"]
    link = alice.post(f"/collections/{state['collection']}/invites", {"role": "VIEW_ONLY"})["data"]["deepLink"]
    invite = Browser(url).get(f"/invites/resolve?token={link.split('/')[-1]}")["data"]["id"]
    refused(404, lambda: bob.get(f"/collections/{state['collection']}"))
    bob.post(f"/invites/{invite}/accept")

    # Adventures, whose changes are events.
    state["places"] = f"saved_places:{user}"
    for name in PLACES:
        alice.post("/rest/v1/saved_places", {"name": name, "address": "1 Street", "latitude": 48.2, "longitude": 16.4})
    assert bob.get("/rest/v1/saved_places") == []
    refused(403, lambda: bob.get(f"/realtime/v1/events?topic={state['places']}"))
    hunt = alice.post("/rest/v1/scavenger_hunts", {
        "title": "Around the lake", "checkpoints": [{"title": "The pier", "latitude": 48.2, "longitude": 16.4}]})[0]
    state["hunt"] = hunt["id"]
    alice.send("PATCH", f"/rest/v1/scavenger_hunts?id=eq.{hunt['id']}", {"status": "active"})
    bob.post("/rest/v1/scavenger_hunts/join", {"invite_code": hunt["invite_code"]})

    # Without the key of a provider, production makes no scenes, and says which variable it lacks.
    try:
        alice.post("/api/v1/timepoints/generate/sync", {"query": "The moon landing, 1969", "generate_image": False})
    except Refused as error:
        assert error.status == 503 and "GOOGLE_API_KEY" in str(error), error

    refused(401, lambda: Browser(url).get("/api/v1/lists"))
    refused(404, lambda: alice.get("/internal/credits/audit"))
    state["seen"] = seen(alice, bob, state)
    with open(path, "w") as file:
        json.dump(state, file)
    print(f"begun: {json.dumps(state['seen'])[:200]}")


def check(url, path):
    with open(path) as file:
        state = json.load(file)
    now = seen(sign_in(url, state["alice"]), sign_in(url, state["bob"]), state)
    assert now == state["seen"], f"\nbefore {state['seen']}\nnow    {now}"
    print("nothing is lost")


def grant(admin, user, key):
    """Grants credits once, however often it is repeated with the key."""
    admin.post("/api/v1/credits/admin/grant", {"user_id": user, "amount": 100}, **{"Idempotency-Key": key})


def write_task(browser, list_id):
    """Adds a task, once although the request is repeated with its key, and deletes it."""
    path, key = f"/api/v1/lists/{list_id}/tasks", {"Idempotency-Key": str(uuid.uuid4())}
    first, again = (browser.post(path, {"task": {"title": "Written"}}, **key)["task"]["id"] for _ in range(2))
    assert first == again, f"{first} was repeated, and is {again}"
    browser.send("DELETE", f"{path}/{first}")


def open_stream(browser, topic):
    """Reads the first event of a stream. One that ends before, as its process stops, is opened again, as apps do."""
    for _ in range(2):
        try:
            return events(browser, topic, 1)
        except (AssertionError, http.client.HTTPException, ConnectionError) as error:
            last = error
    raise BrokenOff(repr(last))


class Every:
    """Says at most every so many seconds that something is due."""

    def __init__(self, seconds):
        self.seconds, self.lock, self.last = seconds, threading.Lock(), 0

    def is_due(self):
        with self.lock:
            if time.monotonic() - self.last < self.seconds:
                return False
            self.last = time.monotonic()
            return True


def calls_of(url, state):
    """What a load does, by name: reads of every service, and writes that change nothing of what `check` looks at."""
    alice, admin = sign_in(url, state["alice"], waits=False), administrator(url, waits=False)
    # Ten streams may be open. One whose end does not reach the service, which can happen when a machine or a network
    # is down, counts until a comment cannot be sent, for half a minute.
    numbers, streams = iter(range(1 << 60)), Every(5)
    return {
        "me": lambda: alice.get("/api/v1/auth/me"),
        "balance": lambda: alice.get("/api/v1/credits/balance"),
        "list": lambda: alice.get(f"/api/v1/lists/{state['list']}"),
        "group": lambda: alice.get(f"/api/groups/{state['group']}"),
        "collection": lambda: alice.get(f"/collections/{state['collection']}"),
        "hunt": lambda: alice.get(f"/rest/v1/scavenger_hunts?id=eq.{state['hunt']}"),
        "timepoints": lambda: alice.get("/api/v1/users/me/timepoints"),
        "new task": lambda: write_task(alice, state["written"]),
        "new name": lambda: alice.send(
            "PATCH", f"/api/v1/lists/{state['written']}", {"list": {"name": f"Written {next(numbers)}"}}),
        "repeated grant": lambda: grant(admin, state["seen"]["me"], state["tag"]),
        "stream": lambda: open_stream(alice, state["places"]) if streams.is_due() else None,
    }


WRITES = {"new task", "new name", "repeated grant"}


def load(url, path, seconds, within=0, requests=0, killed=""):
    with open(path) as file:
        state = json.load(file)
    calls = list(calls_of(url, state).items())
    counts, failures, lock = {"ok": 0, "unavailable": 0}, [], threading.Lock()
    end, stopped, down = time.monotonic() + float(seconds), threading.Event(), {}
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())

    def goes_on():
        if failures:
            return False
        return counts["ok"] < int(requests) or time.monotonic() < end and not stopped.is_set()

    def is_unavailable(name, error):
        if isinstance(error, BrokenOff):
            return float(within) > 0
        if isinstance(error, Refused):
            is_unknown = error.status == 502 and killed and name in WRITES
            return is_unknown or error.status == 503 and error.headers.get("Retry-After")
        return killed and isinstance(error, (ConnectionError, http.client.HTTPException))

    def work(turn):
        while goes_on():
            turn += 1
            name, call = calls[turn % len(calls)]
            try:
                call()
                with lock:
                    counts["ok"] += 1
                    down.pop(name, None)
            except (Refused, BrokenOff, OSError, AssertionError, http.client.HTTPException) as error:
                with lock:
                    since = down.setdefault(name, time.monotonic())
                    counts["unavailable"] += 1
                    if not is_unavailable(name, error):
                        failures.append(f"{name}: {error!r}")
                    elif time.monotonic() - since > float(within):
                        failures.append(f"{name}: for longer than {within} s: {error!r}")

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{counts['ok']} requests succeeded, {counts['unavailable']} were answered by 503")
    assert not failures, f"{len(failures)} failures, the first: {failures[:3]}"


{"begin": begin, "check": check, "load": load}[sys.argv[1]](*sys.argv[2:])
