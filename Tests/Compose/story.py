#!/usr/bin/env python3
"""Uses a running Kith through its public port, as apps do, and remembers what it saw.

story.py begin URL STATE   two people sign up and use every service; what they see is written to the file STATE
story.py check URL STATE   they sign in again, and see the same
story.py load URL STATE SECONDS [WITHIN [REQUESTS]]
                           requests all the time, and as many as REQUESTS: fails when one is answered by something other
                           than success, or by 503 without Retry-After; with WITHIN, 503 may last for that many seconds
"""
import json
import os
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


class Browser:
    def __init__(self, url, token=None, **headers):
        self.url, self.headers = url, headers | ({"Authorization": f"Bearer {token}"} if token else {})

    def send(self, method, path, body=None, kind="application/json", **headers):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, body, {"Content-Type": kind, **self.headers, **headers}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=35) as reply:
                text = reply.read()
                return json.loads(text) if "json" in reply.headers.get("Content-Type", "") else text
        except urllib.error.HTTPError as error:
            if error.code == 429:
                time.sleep(int(error.headers["Retry-After"]))
                return self.send(method, path, body, kind, **headers)
            raise Refused(error.code, error.headers, error.read().decode(errors="replace")) from None

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


def sign_in(url, email):
    token = Browser(url).post("/api/v1/auth/sign_in", {"email": email, "password": PASSWORD})["token"]
    return Browser(url, token)


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
    request = urllib.request.Request(
        f"{browser.url}/realtime/v1/events?topic={topic}", headers={**browser.headers, "Last-Event-ID": "0"})
    found = []
    # A comment comes every fifteen seconds: the stream does not end by itself.
    end = time.monotonic() + 30
    with urllib.request.urlopen(request, timeout=30) as stream:
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
    state = {name: f"{name}-{tag}@example.com" for name in ["alice", "bob"]}
    for name in ["alice", "bob"]:
        refused(401, lambda: Browser(url).post(
            "/api/v1/auth/sign_in", {"email": state[name], "password": PASSWORD}))
        Browser(url).post("/api/v1/auth/sign_up", {"user": {"email": state[name], "password": PASSWORD}})
    alice, bob = sign_in(url, state["alice"]), sign_in(url, state["bob"])

    # Credits: granted once under one key, whatever is repeated.
    user = alice.get("/api/v1/auth/me")["id"]
    admin = Browser(url, **{"X-Admin-Key": os.environ["ADMIN_API_KEY"]})
    for _ in range(2):
        admin.post("/api/v1/credits/admin/grant", {"user_id": user, "amount": 100}, **{"Idempotency-Key": tag})
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

    # Groups: a photo, which is decoded and stored in the volume.
    state["group"] = alice.post("/api/groups", {"name": "The Cabin"})["id"]
    photo = alice.send("POST", f"/api/photos/upload?group_id={state['group']}", png(), "image/png")["photo_id"]
    state["photo"] = f"/api/photos/{photo}"
    refused(404, lambda: bob.get(state["photo"]))

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


def load(url, path, seconds, within=0, requests=0):
    with open(path) as file:
        state = json.load(file)
    alice = sign_in(url, state["alice"])
    calls = [lambda: alice.get("/api/v1/auth/me"), lambda: alice.get("/api/v1/credits/balance"),
             lambda: alice.get(f"/api/v1/lists/{state['list']}"), lambda: alice.get(f"/api/groups/{state['group']}"),
             lambda: alice.get(f"/collections/{state['collection']}"),
             lambda: alice.get(f"/rest/v1/scavenger_hunts?id=eq.{state['hunt']}"),
             lambda: alice.get("/api/v1/users/me/timepoints")]
    counts, failures, lock = {"ok": 0, "unavailable": 0}, [], threading.Lock()
    end = time.monotonic() + float(seconds)
    down = {}

    def work(number):
        turn = number
        while time.monotonic() < end or counts["ok"] < int(requests) and not failures:
            turn += 1
            which = turn % len(calls)
            try:
                calls[which]()
                with lock:
                    counts["ok"] += 1
                    down.pop(which, None)
            except Refused as error:
                with lock:
                    since = down.setdefault(which, time.monotonic())
                    counts["unavailable"] += 1
                    if error.status != 503 or not error.headers.get("Retry-After"):
                        failures.append(str(error))
                    elif time.monotonic() - since > float(within):
                        failures.append(f"503 for longer than {within} s: {error}")
            except OSError as error:
                with lock:
                    failures.append(repr(error))

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{counts['ok']} requests succeeded, {counts['unavailable']} were answered by 503")
    assert not failures, f"{len(failures)} failures, the first: {failures[:3]}"


{"begin": begin, "check": check, "load": load}[sys.argv[1]](*sys.argv[2:])
