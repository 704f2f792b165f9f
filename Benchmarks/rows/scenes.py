"""Scenes with a stand-in for the provider: what each costs by itself, many streams at once, and many pictures."""
import http.client, json, pathlib, socket, subprocess, sys, threading, time

from harness import data
from harness.machine import BENCHMARKS, ENVIRONMENT, available_cores, fail, free_port, prepare
from harness.report import Goal, Values
from harness.services import session_id, user_id
from harness.tokens import access_token

AT_ONCE = 16
WARM_UP_SECONDS = 2
STREAMS = 500
PICTURES = 1_000
SETTLE_SECONDS = 3
# As large as a provider's picture, about half a megabyte.
MAKE_PICTURE = """
vips perlin shapes.v 1344 768 --cell-size 120
vips gaussnoise noise.v 1344 768 --sigma 6 --mean 0
vips linear shapes.v bright.v 90 128
vips add bright.v noise.v grey.v
vips cast grey.v byte.v uchar
vips bandjoin "byte.v byte.v byte.v" three.v
vips copy three.v picture.jpg[Q=89,strip] --interpretation srgb
rm ./*.v
"""


class Stage:
    """The gateway and the services that take part in a scene, on PostgreSQL, with a stand-in for the provider."""

    def __init__(self, bench, *arguments, at_once=AT_ONCE):
        self.bench = bench
        self.postgres = bench.database(data.insert_accounts, data.insert_credits)
        port = free_port()
        self.gemini = bench.launch(
            "gemini", [sys.executable, BENCHMARKS / "harness/gemini.py", port, *arguments], port=port)
        self.gemini.wait("/")
        auth = bench.start("kith-auth", self.postgres)
        events = bench.start("kith-events", self.postgres, peers=[auth])
        credits = bench.start("kith-credits", self.postgres, peers=[auth, events])
        self.timepoints = bench.start(
            "kith-timepoints", self.postgres, peers=[auth, events, credits], environment={
                "GOOGLE_API_KEY": "a-key", "GOOGLE_BASE_URL": f"http://127.0.0.1:{port}",
                "GENERATIONS_AT_ONCE": at_once, "GENERATIONS_AT_ONCE_PER_USER": at_once})
        self.gateway = bench.start("kith-gateway", peers=[auth, events, credits, self.timepoints])
        self.programs = [self.gateway, auth, events, credits, self.timepoints]

    def token(self, number):
        return access_token(self.bench.kith.jwt_secret, user_id(number), session_id(number))

    def make(self, seconds=None, count=None, **options):
        """Makes scenes, as many at once as one process makes, for some seconds or until there are `count`. Returns how
        many there are and how long it took."""
        crew = Crew(self, seconds, count, {"query": "The gate of Miletus, 44 BCE", **options})
        return crew.work()


class Crew:
    """Users who ask for one scene after the other, each within its call."""

    def __init__(self, stage, seconds, count, body):
        self.stage, self.body, self.count = stage, json.dumps(body), count
        self.end = time.monotonic() + seconds if seconds else None
        self.done, self.lock, self.failures, self.memory = 0, threading.Lock(), [], []

    def work(self):
        start = time.monotonic()
        threads = [threading.Thread(target=self.ask, args=(number,)) for number in range(1, AT_ONCE + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            fail(f"a scene failed: {self.failures[0]}")
        return self.done, time.monotonic() - start

    def ask(self, number):
        headers = {"Authorization": f"Bearer {self.stage.token(number)}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.stage.gateway.port, timeout=150)
        try:
            while not self.failures and self.is_going_on():
                connection.request("POST", "/api/v1/timepoints/generate/sync", self.body, headers)
                response = connection.getresponse()
                text = response.read()
                if response.status != 200:
                    self.failures.append(f"{response.status} {text[:300]}")
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(error)
        finally:
            connection.close()

    def is_going_on(self):
        with self.lock:
            if time.monotonic() > self.end if self.end else self.done >= self.count:
                return False
            self.done += 1
            if self.count and self.done % (self.count // 4) == 0:
                self.memory.append(self.stage.timepoints.memory())
            return True


def scenes(bench):
    """Scenes in a second with a provider that answers at once, and processor time for each"""
    stage = Stage(bench)
    stage.make(seconds=WARM_UP_SECONDS)
    rates, milliseconds, each = [], [], {}
    for _ in range(bench.rounds):
        before = [program.cpu_seconds() for program in [*stage.programs, stage.postgres]]
        count, seconds = stage.make(seconds=bench.seconds)
        used = [program.cpu_seconds() - earlier
                for program, earlier in zip([*stage.programs, stage.postgres], before)]
        rates.append(count / seconds)
        milliseconds.append(1000 * sum(used[:-1]) / count)
        for program, own in zip([*stage.programs, stage.postgres], used):
            each.setdefault(program.name, []).append(1000 * own / count)
    how = f"PostgreSQL, {AT_ONCE} at once, {len(available_cores())} cores"
    bench.report.add("scenes", "scenes without a picture in a second", how, Values(rates, 1, "/s"))
    bench.report.add(
        "scenes", "processor time of the gateway and all services for each", how, Values(milliseconds, 1, " ms"),
        Goal("≤", 20, " ms"), ", ".join(f"{name} {Values(own).median:.1f} ms" for name, own in each.items()))


def scene_streams(bench):
    """Memory of the gateway and of timepoints for 500 scenes that are streamed at once"""
    stage = Stage(bench, "--holds", at_once=4)
    # What the first ones allocate stays.
    for stream in [open_stream(stage, STREAMS + number) for number in range(1, 21)]:
        stream.close()
    time.sleep(SETTLE_SECONDS)
    programs = [stage.gateway, stage.timepoints]
    before = [program.memory() for program in programs]
    streams = [open_stream(stage, number) for number in range(1, STREAMS + 1)]
    time.sleep(SETTLE_SECONDS)
    more = [program.memory() - earlier for program, earlier in zip(programs, before)]
    for stream in streams:
        stream.close()
    bench.report.add(
        "scene-streams", f"memory for {STREAMS} streams of scenes that are open at once", "PostgreSQL",
        Values([sum(more)], 0, " MB"), Goal("≤", 100, " MB"),
        ", ".join(f"{program.name} {value:.0f} MB" for program, value in zip(programs, more)))


def open_stream(stage, number):
    """A connection whose stream has begun."""
    body = json.dumps({"query": f"The gate of Miletus, {number} BCE"})
    stream = socket.create_connection(("127.0.0.1", stage.gateway.port), timeout=60)
    stream.sendall((
        f"POST /api/v1/timepoints/generate/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer "
        f"{stage.token(number)}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode())
    received = b""
    while b'"start"' not in received:
        piece = stream.recv(65536)
        received += piece
        if not piece:
            fail(f"a stream did not begin: {received[:500]}")
    return stream


def scene_pictures(bench):
    """Memory of timepoints over 1,000 scenes with a picture"""
    prepare("libvips-tools")
    picture = bench.folder / "picture.jpg"
    subprocess.run(["bash", "-ec", MAKE_PICTURE], cwd=bench.folder, env=ENVIRONMENT, check=True)
    stage = Stage(bench, "--picture", picture)
    crew = Crew(stage, None, PICTURES, {"query": "The gate of Miletus, 44 BCE", "generate_image": True})
    count, seconds = crew.work()
    stored = len(list(pathlib.Path(stage.timepoints.settings["DATA_DIR"]).glob("photos/**/*.1080.jpg")))
    if stored != PICTURES:
        fail(f"{stored} of {PICTURES} pictures are stored")
    memory = [*crew.memory, stage.timepoints.memory()]
    # By the second quarter everything has been used once.
    bench.report.add(
        "scene-pictures", f"memory of `kith-timepoints` after {count:,} pictures : after the first half",
        f"{len(available_cores())} cores", Values([memory[-1] / memory[1]]), Goal("≤", 1.2),
        ", ".join(f"{value:.0f}" for value in memory) + f" MB; {count / seconds:.1f} scenes/s, "
        f"a picture of {picture.stat().st_size / 1e6:.1f} MB")
