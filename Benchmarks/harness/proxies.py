"""The gateway and other proxies in front of one upstream: how each is started, and what it must do before it is
measured."""
import getpass, json, secrets

from harness.machine import BENCHMARKS, free_port, warn
from harness.services import SERVICES, session_id, user_id
from harness.tokens import access_token
from harness.wrk import load

# Routes of the gateway: a small response, a download and an upload that need a bearer token, and what the upstream got.
SMALL = "/api/v1/credits/balance"
DOWN = "/api/photos/0192a4b0-0000-7000-8000-000000000001/today"
UP = "/api/photos/upload"
SEEN = "/api/v1/credits/history"

MEGABYTE = 1_000_000
USER, SESSION = user_id(1), session_id(1)
BALANCE = json.dumps(
    {"user_id": USER, "balance": 1250, "reserved": 50, "lifetime_earned": 4200, "lifetime_spent": 2950,
     "updated_at": "2026-11-21T08:15:30Z"})
COMMANDS = {
    "upstream": ("upstream.conf", ["nginx", "-e", "stderr", "-c"]),
    "nginx": ("nginx.conf", ["nginx", "-e", "stderr", "-c"]),
    "haproxy": ("haproxy.cfg", ["haproxy", "-db", "-f"]),
    "caddy": ("Caddyfile", ["caddy", "run", "--adapter", "caddyfile", "--config"]),
}
SAME_JOB = ["haproxy", "kith-gateway"]


class Proxies:
    """Starts the upstream, then proxies in front of it, on the cores of a placement."""

    def __init__(self, bench, placement, users):
        self.bench, self.placement = bench, placement
        self.secret, self.service_key = bench.kith.jwt_secret, bench.kith.keys["gateway"]
        self.token = access_token(self.secret, USER, SESSION)
        self.users = bench.kith.users_file(f"users-{users}", range(1, users + 1))
        (bench.folder / "megabyte").write_bytes(secrets.token_bytes(MEGABYTE))
        self.upstream = self.start("upstream")

    def start(self, name, is_logging=True):
        if name == "kith-gateway":
            upstream = f"http://127.0.0.1:{self.upstream.port}"
            proxy = self.bench.start(
                name, is_logging=is_logging, core=self.placement.server,
                environment={f"{service.upper()}_URL": upstream for service in SERVICES})
        else:
            port, (file, command) = free_port(), COMMANDS[name]
            core = self.placement.others if name == "upstream" else self.placement.server
            proxy = self.bench.launch(
                name, [*command, self.config(file, port, is_logging)], port=port, core=core,
                environment={"HOME": self.bench.folder})
        self.verify(proxy)
        return proxy

    def config(self, file, port, is_logging):
        """Fills in a file of Benchmarks/gateway: `@NAME@` stands for a value."""
        values = {
            "PORT": port, "UPSTREAM": port if file == "upstream.conf" else self.upstream.port,
            "CORES": len(self.placement.server_cores), "FOLDER": self.bench.folder, "USER": getpass.getuser(),
            "SECRET": self.secret, "SERVICE_KEY": self.service_key, "SMALL": SMALL, "DOWN": DOWN, "UP": UP,
            "SEEN": SEEN, "BALANCE": BALANCE,
            # Into the file to which the output of the program is redirected.
            "LOG_TARGET": "log stdout format raw local0" if is_logging else "",
            "LOG_FORMAT": "log global\n  option httplog" if is_logging else "",
        }
        text = (BENCHMARKS / "gateway" / file).read_text()
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        path = self.bench.folder / f"{port}-{file}"
        path.write_text(text)
        return path

    def load(self, proxy, seconds, connections=32, path=SMALL, upload=0, pause=0):
        variables = {"USERS": self.users, "PATH_OF_REQUESTS": path, "UPLOAD_BYTES": upload, "PAUSE": pause}
        return load(proxy, "gateway/load.lua", seconds, connections, self.placement.others, variables, [proxy])

    def verify(self, proxy):
        """Waits for the first 200, then makes sure that the program does what is to be measured."""
        bearer = {"Authorization": f"Bearer {self.token}"}
        proxy.wait(SMALL, bearer)
        proxy.expect(f"GET {SMALL}", (200, BALANCE.encode()), proxy.request("GET", SMALL, bearer))
        status, body = proxy.request("GET", DOWN, bearer)
        proxy.expect(f"GET {DOWN}", (200, MEGABYTE), (status, len(body)))
        proxy.expect(f"POST {UP}", 200, proxy.request("POST", UP, bearer, b"x" * MEGABYTE)[0])
        if proxy.name in SAME_JOB:
            self.verify_job(proxy, bearer)

    def verify_job(self, proxy, bearer):
        bad = {"a forged": access_token(self.secret, USER, SESSION, signed_with="x" * 32),
               "an expired": access_token(self.secret, USER, SESSION, lifetime=-60)}
        refused = {kind: {"Authorization": f"Bearer {text}"} for kind, text in bad.items()} | {"no": {}}
        for kind, headers in refused.items():
            for method, path, body in (("GET", SMALL, None), ("GET", DOWN, None), ("POST", UP, b"x")):
                status, _ = proxy.request(method, path, headers, body)
                proxy.expect(f"{method} {path} with {kind} token", 401, status)
        status, body = proxy.request("GET", SEEN, bearer | {"X-User-ID": "somebody", "X-Session-ID": "another"})
        proxy.expect(f"GET {SEEN}", 200, status)
        seen = json.loads(body)
        proxy.expect("has an id for the upstream", True, seen.pop("id") != "")
        wanted = {"user": USER, "session": SESSION, "key": self.service_key, "from": "127.0.0.1", "bearer": ""}
        proxy.expect("what the upstream sees", wanted, seen)

    def verify_log(self, proxy, requests):
        """Warns when the log has far fewer lines than there were requests."""
        with open(proxy.log, "rb") as log:
            lines = sum(chunk.count(b"\n") for chunk in iter(lambda: log.read(1 << 20), b""))
        if lines < 0.95 * requests:
            warn(f"the log of {proxy} has {lines:,} lines for {requests:,} requests")

