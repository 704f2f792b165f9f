"""WebSockets through the gateway: memory, the time of an event, and nginx with nchan doing the same fan-out."""
import contextlib, dataclasses, getpass, http.client, json, resource, socket, time, typing, uuid

from harness.machine import available_cores, fail, free_port, prepare, warn
from harness.report import Goal, Values
from harness.services import session_id, user_id
from harness.sockets import Clients
from harness.tokens import access_token

IDLE_SOCKETS = 10_000
READERS = 1_000
EVENTS = 200
EVENTS_AT_ONCE = 20
WANTED_FILES = 65_536
# What a process may have open beside its WebSockets.
OTHER_FILES = 250
SETTLE_SECONDS = 5
KILOBYTE = 1024
PATH = "/realtime/v1/websocket?vsn=1.0.0"
MARKER = b'"bench_event"'
NCHAN = """
load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
user @USER@; worker_processes @CORES@; daemon off; pid @FOLDER@/nchan.pid; error_log stderr error;
worker_rlimit_nofile 65536;
events { worker_connections 16384; }
http {
  access_log off; client_body_temp_path @FOLDER@/nchan-body; proxy_temp_path @FOLDER@/nchan-proxy;
  fastcgi_temp_path @FOLDER@/nchan-fastcgi; uwsgi_temp_path @FOLDER@/nchan-uwsgi; scgi_temp_path @FOLDER@/nchan-scgi;
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:@PORT@ reuseport backlog=4096;
    location = /health { return 200; }
    location = /subscribe { nchan_subscriber websocket; nchan_channel_id bench; nchan_subscriber_first_message newest; }
    location = /publish { nchan_publisher; nchan_channel_id bench; nchan_message_buffer_length 10000; }
  }
}
"""


class Live:
    """auth and events on PostgreSQL, with gateways in front of them."""

    def __init__(self, bench, gateways=1):
        self.bench = bench
        postgres = bench.database()
        many = {"EVENTS_SOCKETS_PER_USER": 10_000, "EVENTS_SOCKETS_PER_ADDRESS": 1_000_000}
        auth = bench.start("kith-auth", postgres, is_logging=False)
        self.events = bench.start("kith-events", postgres, is_logging=False, peers=[auth], environment=many)
        self.gateways = [bench.start("kith-gateway", is_logging=False, peers=[auth, self.events])
                         for _ in range(gateways)]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.events.port, timeout=60)
        self.headers = {"X-Service-Key": bench.kith.keys["lists"], "Content-Type": "application/json"}

    def clients(self, programs, count, users):
        """WebSockets to the programs in turn, that have joined the topic of one of the users each, in turn."""
        tokens = [access_token(self.bench.kith.jwt_secret, user_id(user), session_id(user)) for user in users]

        def join(number):
            index = number % len(users)
            payload = {"config": {"private": True}, "access_token": tokens[index]}
            return {"topic": f"realtime:users:{user_id(users[index])}", "event": "phx_join", "payload": payload,
                    "ref": "1", "join_ref": "1"}

        return Clients([program.port for program in programs], PATH, count, join=join)

    def publish(self, user, count):
        """Delivers events to the topic of a user in one request, as a service does."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        events = [{"id": id_of_now(), "topics": [f"users:{user_id(user)}"], "name": "bench_event", "at": at,
                   "payload": {"list_id": 42, "task_id": number, "title": "Milk"}} for number in range(count)]
        self.connection.request("POST", "/internal/events", json.dumps({"events": events}), self.headers)
        response = self.connection.getresponse()
        accepted = json.load(response).get("accepted")
        self.events.expect("POST /internal/events", (200, count), (response.status, accepted))


class Nchan:
    """nginx with nchan, which keeps its messages in memory."""

    def __init__(self, bench):
        prepare("nginx", "libnginx-mod-nchan")
        port = free_port()
        values = {"USER": getpass.getuser(), "CORES": len(available_cores()), "FOLDER": bench.folder, "PORT": port}
        text = NCHAN
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        path = bench.folder / "nchan.conf"
        path.write_text(text)
        self.nginx = bench.launch("nchan", ["nginx", "-e", "stderr", "-c", path], port=port)
        self.nginx.wait("/health")
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def publish(self, count):
        """Messages as long as what Kith sends for one of its events: nchan takes one with a request, so all requests
        are sent before the first response is read."""
        requests = b""
        for number in range(count):
            text = json.dumps({"topic": f"realtime:users:{user_id(1)}", "event": "broadcast", "ref": None, "payload": {
                "type": "broadcast", "event": "bench_event", "meta": {"id": id_of_now(), "seq": number},
                "payload": {"list_id": 42, "task_id": number, "title": "Milk"}}}, separators=(",", ":"))
            requests += (f"POST /publish HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
                         f"Content-Length: {len(text)}\r\n\r\n{text}").encode()
        self.socket.sendall(requests)
        responses = b""
        while responses.count(b"HTTP/1.1 20") < count:
            piece = self.socket.recv(65536)
            responses += piece
            if not piece or responses.count(b"HTTP/1.1 ") > responses.count(b"HTTP/1.1 20"):
                fail(f"nchan: {responses[-500:]}")


def id_of_now():
    """A UUIDv7: the time in milliseconds, and random bits, of which the variant is as in version 4."""
    number = (time.time_ns() // 1_000_000) << 80 | uuid.uuid4().int & ((1 << 80) - 1)
    return str(uuid.UUID(int=number & ~(0xF << 76) | 0x7 << 76))


def raise_open_files():
    """How many files a process may have open: as many as are wanted, or as the machine allows. Programs inherit it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for files in (max(most, WANTED_FILES), most):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            return files
        except (ValueError, OSError):
            continue
    fail("the number of open files cannot be set")


def socket_memory(bench):
    """Memory of the gateway and of events for each of 10,000 open WebSockets"""
    most = raise_open_files() - OTHER_FILES
    # The clients are in one process, and events is one.
    count = min(IDLE_SOCKETS, most)
    if count < IDLE_SOCKETS:
        warn(f"a process may have too few open files: only {count:,} WebSockets are opened")
    # A gateway needs two for each.
    live = Live(bench, gateways=-(-2 * count // most))
    # What the first ones allocate stays.
    with live.clients(live.gateways, 200, range(1, 201)):
        pass
    time.sleep(SETTLE_SECONDS)
    programs = {"gateway": live.gateways, "events": [live.events]}

    def memory(name):
        return sum(program.memory() for program in programs[name])

    before = {name: memory(name) for name in programs}
    with live.clients(live.gateways, count, range(1, count + 1)) as clients:
        clients.drop_pending(SETTLE_SECONDS)
        each = {name: (memory(name) - before[name]) * KILOBYTE / count for name in programs}
    figures = ", ".join(f"{name} {value:.1f} KB" for name, value in each.items())
    if len(live.gateways) > 1:
        figures += f"; {len(live.gateways)} gateways share them, as each needs two open files for one"
    bench.report.add(
        "socket-memory", f"memory for each of {count:,} WebSockets that have joined a topic each", "PostgreSQL",
        Values([sum(each.values())], 1, " KB"), Goal("≤", 12, " KB"), figures)


@dataclasses.dataclass
class Way:
    """One way of events to readers: how they are published, and the programs that are measured."""

    publish: typing.Callable
    clients: Clients
    watched: list


def fan_out(bench):
    """An event to 1,000 WebSockets: its time, and messages of Kith and of nginx with nchan"""
    live, nchan = Live(bench), Nchan(bench)
    # What stores the events counts as well.
    programs = [live.events, bench.postgres]
    with contextlib.ExitStack() as stack:
        def way(publish, clients, watched):
            return Way(publish, stack.enter_context(clients), watched)

        # The readers of one way do not get what is published for those of another.
        ways = {
            "through the gateway": way(
                lambda count: live.publish(1, count), live.clients(live.gateways, READERS, [1]),
                [*live.gateways, *programs]),
            "directly": way(
                lambda count: live.publish(2, count), live.clients([live.events], READERS, [2]), programs),
            "nchan": way(nchan.publish, Clients([nchan.nginx.port], "/subscribe", READERS), [nchan.nginx]),
        }
        for one in ways.values():
            one.clients.drop_pending(2)
        show_latency(bench, ways["through the gateway"])
        rounds = [messages_in_turn(ways, number) for number in range(bench.rounds)]
    for name in list(ways)[:2]:
        show_ratios(bench, name, [results[name] for results in rounds], [results["nchan"] for results in rounds])


def show_latency(bench, way):
    """From the request that delivers the event, so with its transaction, to the last WebSocket."""
    milliseconds = []
    for _ in range(100):
        start = time.monotonic()
        way.publish(1)
        milliseconds.append((way.clients.receive(MARKER, READERS) - start) * 1000)
    milliseconds.sort()
    bench.report.add(
        "fan-out", f"an event to the last of {READERS:,} WebSockets, p99 of 100", "PostgreSQL, through the gateway",
        Values([milliseconds[98]], 1, " ms"), Goal("≤", 100, " ms"), f"median {milliseconds[49]:.1f} ms")


def messages_in_turn(ways, number):
    """The results of one round by way, each time beginning with another one."""
    names = list(ways)
    first = number % len(names)
    results = {}
    for name in names[first:] + names[:first]:
        for way in ways.values():
            way.clients.keep_alive()
        results[name] = messages(ways[name])
    return results


def messages(way):
    """Messages in a second, and microseconds of CPU time for each. As many as a few events make are in flight."""
    cpu = sum(program.cpu_seconds() for program in way.watched)
    start = time.monotonic()
    for _ in range(EVENTS // EVENTS_AT_ONCE):
        way.publish(EVENTS_AT_ONCE)
        way.clients.receive(MARKER, READERS * EVENTS_AT_ONCE)
    seconds = time.monotonic() - start
    cpu = sum(program.cpu_seconds() for program in way.watched) - cpu
    return READERS * EVENTS / seconds, cpu * 1e6 / (READERS * EVENTS)


def show_ratios(bench, name, kith, nchan):
    """`kith` and `nchan` are what ``messages`` has returned in each round."""
    def median(results, index):
        return Values([result[index] for result in results]).median

    lines = {
        "messages, Kith : nchan": (
            [one[0] / other[0] for one, other in zip(kith, nchan)],
            f"{median(kith, 0):,.0f}/s : {median(nchan, 0):,.0f}/s"),
        "CPU time for each message, nchan : Kith": (
            [other[1] / one[1] for one, other in zip(kith, nchan)],
            f"{median(nchan, 1):.1f} µs : {median(kith, 1):.1f} µs"),
    }
    for title, (ratios, figures) in lines.items():
        bench.report.add(
            "fan-out", f"{title}, {READERS:,} WebSockets, {name}", f"{len(available_cores())} cores", Values(ratios),
            Goal("≥", 1), figures)
