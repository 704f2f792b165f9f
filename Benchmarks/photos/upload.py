"""Uploads one photo many times, as many members of many groups, and says how fast that went and what it took."""

import json
import os
import queue
import sys
import threading
import time
from http.client import HTTPConnection

photo, count, process, alone = open(sys.argv[1], "rb").read(), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
groups_of_each = 5
senders = 2 * (os.cpu_count() or 1)


def call(connection, method, path, token=None, body=None, kind="application/json", **headers):
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection.request(method, path, body, {"Content-Type": kind, **headers})
    reply = connection.getresponse()
    answer = json.loads(reply.read())
    if reply.status != 200:
        sys.exit(f"{method} {path}: {reply.status} {answer}")
    return answer


def memory():
    with open(f"/proc/{process}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


gateway = HTTPConnection("127.0.0.1", int(os.environ["PORT"]))
work = queue.Queue()
for number in range((count + groups_of_each - 1) // groups_of_each):
    body = json.dumps({"email": f"bench{number}@example.com"})
    key = {"X-Admin-Key": os.environ["ADMIN_API_KEY"]}
    token = call(gateway, "POST", "/api/v1/auth/dev/token", None, body, **key)["access_token"]
    for _ in range(groups_of_each):
        group = call(gateway, "POST", "/api/groups", token, json.dumps({"name": "Bench"}))["id"]
        if work.qsize() < count:
            work.put((token, group))

memories = [memory()]
done = []
lock = threading.Lock()


def send():
    connection = HTTPConnection("127.0.0.1", int(os.environ["GROUPS_PORT"]))
    while True:
        try:
            token, group = work.get_nowait()
        except queue.Empty:
            return
        sent = call(connection, "POST", f"/api/photos/upload?group_id={group}", token, photo, "image/jpeg")
        with lock:
            done.append((token, group, sent["photo_id"]))
            if len(done) % max(1, count // 4) == 0:
                memories.append(memory())


began = time.monotonic()
threads = [threading.Thread(target=send) for _ in range(senders)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
rate = len(done) / (time.monotonic() - began)
if len(done) != count:
    sys.exit(f"only {len(done)} of {count} were sent")
print(f"uploads, {senders} at once:              {rate:.2f} photos/s, {rate / alone:.2f} of it (goal: 0.7)")
print("resident memory, before and after each quarter: " + ", ".join(f"{value:.0f} MB" for value in memories))

token, group, sent = done[-1]
url = call(gateway, "GET", f"/api/photos/{group}/today", token)["photos"][0]["url"]
print("photo: " + sent)
print("link: " + url[url.index("/api/") :])

# By the second quarter everything has been used once. Memory that goes on growing fails the run.
second, last = memories[min(2, len(memories) - 1)], memories[-1]
if last > 1.2 * second:
    sys.exit(f"memory does not stay flat: {last:.0f} MB at the end, {second:.0f} MB after the second quarter")
