"""Notifications to a receiver that speaks HTTP/2 over TLS, in place of Apple's server."""
import datetime, json, pathlib, re, subprocess, time, uuid

from harness import data
from harness.machine import fail, free_port, placements, prepare, warn
from harness.report import Values
from harness.services import ACCOUNTS, user_id

# Each event notifies so many users, as the first photo of a day notifies a group.
RECIPIENTS = 500
EVENTS = 20
WAIT_SECONDS = 300
STREAMS = 1000
ACCEPTED = re.compile(r'kith_push_sent_total\{outcome="accepted"\} (\d+)')
OTHERS = re.compile(r'kith_push_sent_total\{outcome="(?!accepted")([^"]+)"\} (\d+)')


def push(bench):
    """Notifications to a receiver with HTTP/2 over TLS (nghttpd), over one connection"""
    prepare("nghttp2-server", "openssl")
    postgres = bench.database(data.insert_accounts, data.insert_devices)
    certificate, key, provider = keys(bench.folder)
    for placement in placements():
        placement.pin_others(postgres.processes)
        port = free_port()
        # It answers a POST with 200 and what was sent.
        receiver = bench.launch(
            "nghttpd", ["nghttpd", "--echo-upload", f"--max-concurrent-streams={STREAMS}", "--address=127.0.0.1", port,
                        key, certificate], port=port, core=placement.others)
        auth = bench.start("kith-auth", postgres, core=placement.others)
        url = f"https://localhost:{port}"
        events = bench.start("kith-events", postgres, core=placement.server, peers=[auth], environment={
            "APNS_TEAM_ID": "TEAM123456", "APNS_KEY_ID": "KEY1234567", "APNS_PRIVATE_KEY": provider,
            "APNS_TOPIC": "com.example.kith", "APNS_URL": url, "APNS_SANDBOX_URL": url,
            "TLS_EXTRA_ROOTS": certificate})
        send(bench, events, postgres, receiver)
        rounds = [send(bench, events, postgres, receiver) for _ in range(bench.rounds)]
        bench.stop(events, auth, receiver)
        show(bench, placement, rounds)


def keys(folder):
    """A certificate for localhost with its key, and a key that signs provider tokens."""
    certificate, key, provider = (folder / name for name in ("receiver.pem", "receiver.key", "provider.pem"))
    if not certificate.exists():
        curve = ["-pkeyopt", "ec_paramgen_curve:P-256"]
        run("openssl", "req", "-x509", "-newkey", "ec", *curve, "-nodes", "-days", "2", "-keyout", key, "-out",
            certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        run("openssl", "genpkey", "-algorithm", "EC", *curve, "-out", provider)
    return certificate, key, provider


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def send(bench, events, postgres, receiver):
    """Delivers the events, and waits until every notification was accepted: the seconds, and CPU seconds by program."""
    before, programs = accepted(bench, events), (events, postgres, receiver)
    cpu, start = [program.cpu_seconds() for program in programs], time.monotonic()
    status, body = events.request("POST", "/internal/events", headers(bench), json.dumps({"events": batch(bench)}))
    events.expect("the status of the events", 200, status)
    goal = before + RECIPIENTS * EVENTS
    while (count := accepted(bench, events)) < goal:
        if time.monotonic() - start > WAIT_SECONDS:
            fail(f"{events}: {count - before} of {goal - before} notifications in {WAIT_SECONDS} seconds")
        time.sleep(0.02)
    seconds = time.monotonic() - start
    if (found := connections(receiver.port)) != 1:
        warn(f"{found} connections to the receiver instead of one")
    return seconds, {program.name: program.cpu_seconds() - used for program, used in zip(programs, cpu)}


def headers(bench):
    return {"X-Service-Key": bench.kith.keys["groups"], "Content-Type": "application/json"}


def batch(bench):
    """The first photos of as many groups, each shown to the same users: others than before, as an hour has a limit."""
    first = 1 + bench.next_run() * RECIPIENTS % (ACCOUNTS - RECIPIENTS)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    recipients = [user_id(number) for number in range(first, first + RECIPIENTS)]
    groups = [str(uuid.uuid4()) for _ in range(EVENTS)]
    return [{
        "id": str(uuid.uuid4()), "topics": [f"social_groups:{group}"], "name": "first_photo_sent", "at": now,
        "payload": {"group_id": group},
        "push": {"recipients": recipients, "actor": user_id(ACCOUNTS), "subject": "The cabin"},
    } for group in groups]


def accepted(bench, events):
    _, text = events.request("GET", "/metrics", headers(bench))
    text = text.decode()
    if refused := OTHERS.findall(text):
        fail(f"{events}: the receiver has refused notifications: {refused}")
    found = ACCEPTED.search(text)
    return int(found[1]) if found else 0


def connections(port):
    """How many connections to this port are established, by their clients."""
    lines = sum((pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")), [])
    return sum(line.split()[2].endswith(f":{port:04X}") and line.split()[3] == "01" for line in lines)


def show(bench, placement, rounds):
    count = RECIPIENTS * EVENTS
    each = {name: Values([cpu[name] / count * 1e6 for _, cpu in rounds], 0, " µs") for name in rounds[0][1]}
    others = ", ".join(f"{name} {values.median:,.0f} µs" for name, values in each.items() if name != "kith-events")
    bench.report.add(
        "push", "notifications in a second, from the event to the answer", placement.name,
        Values([count / seconds for seconds, _ in rounds], 0, "/s"))
    bench.report.add(
        "push", "CPU time of each notification", placement.name, each["kith-events"], figures=others)
