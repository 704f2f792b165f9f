"""The programs that are compared: how each is started, what it must do before it is measured, and what it uses."""
import base64, getpass, hashlib, hmac, http.client, json, os, pathlib, secrets, socket, subprocess, sys, time

# Routes of the gateway: a small answer, a download and an upload that want a bearer, and one more that does.
SMALL = "/api/v1/credits/balance"
DOWN = "/api/photos/0192a4b0-0000-7000-8000-000000000001/today"
UP = "/api/photos/upload"
SEEN = "/api/v1/credits/history"

MEGABYTE = 1_000_000
USER = "0192a4b0-0000-7000-8000-00000000000a"
SESSION = "0192a4b0-0000-7000-8000-00000000000b"
BALANCE = json.dumps(
    {"user_id": USER, "balance": 1250, "reserved": 50, "lifetime_earned": 4200, "lifetime_spent": 2950,
     "updated_at": "2026-11-21T08:15:30Z"})
NAMES = {"alone": "upstream alone", "haproxy": "HAProxy", "kith": "kith-gateway", "nginx": "nginx, plain",
         "caddy": "Caddy, plain"}
SAME_JOB = ["haproxy", "kith"]

HERE = pathlib.Path(__file__).resolve().parent
# Nothing else of whoever calls this reaches the programs.
ENVIRONMENT = {"PATH": os.environ["PATH"] + ":/usr/sbin"}


def fail(text):
    sys.exit(f"Benchmarks/gateway: {text}")


def warn(text):
    print(f"\n!!! {text}\n", file=sys.stderr, flush=True)


def cores():
    return len(os.sched_getaffinity(0))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Tokens, as Shared/Tokens makes them

def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def digest(secret, text):
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()


def token(secret, signed_with=None, lifetime=86_400):
    now = int(time.time())
    head = {"alg": "HS256", "kid": base64url(digest(secret, "kith key id")[:9]), "typ": "JWT"}
    claims = {"exp": now + lifetime, "iat": now - 86_400, "iss": "kith", "jti": secrets.token_hex(16), "sid": SESSION,
              "sub": USER, "type": "access"}
    message = ".".join(base64url(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
    return f"{message}.{base64url(digest(signed_with or secret, message))}"


class Program:
    """A program that runs, with the processes that it has started."""

    def __init__(self, name, port, command, folder, environment):
        self.name, self.port, self.log = name, port, folder / f"{name}.out"
        with open(self.log, "ab") as log:
            # In a session of its own: Ctrl-C is for us, who stop it.
            self.process = subprocess.Popen(
                command, cwd=folder, env=ENVIRONMENT | environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)

    def __str__(self):
        return NAMES[self.name]

    @property
    def last_words(self):
        return self.log.read_text(errors="replace")[-2000:]

    def stop(self):
        if self.process.poll() is not None:
            return warn(f"{self} had ended by itself:\n{self.last_words}")
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            warn(f"{self} did not stop within 10 seconds")
            self.process.kill()
            self.process.wait()

    @property
    def children(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    def cpu_seconds(self):
        """User and system time of all threads of all processes so far."""
        ticks = 0
        for pid in [self.process.pid, *self.children]:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Resident megabytes of the workers; of the process itself when it has none."""
        states = [pathlib.Path(f"/proc/{pid}/status").read_text() for pid in self.children or [self.process.pid]]
        return sum(int(state.partition("VmRSS:")[2].split()[0]) for state in states) / 1024

    def request(self, method, path, headers, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def expect(self, what, wanted, found):
        if found != wanted:
            fail(f"{self}: {what}: {str(found)[:300]} instead of {str(wanted)[:300]}\n{self.last_words}")


class Programs:
    """Starts the upstream, then proxies in front of it. `gateway` is the path of ours."""

    def __init__(self, folder, gateway):
        self.folder, self.gateway, self.running = folder, gateway, []
        self.secret, self.service_key = secrets.token_hex(32), secrets.token_hex(32)
        self.token = token(self.secret)
        (folder / "megabyte").write_bytes(secrets.token_bytes(MEGABYTE))

    def start(self, name):
        port, environment = free_port(), {}
        if name == "alone":
            self.upstream_port = port
            command = ["nginx", "-e", "stderr", "-c", self.config("upstream.conf", port)]
        elif name == "nginx":
            command = ["nginx", "-e", "stderr", "-c", self.config("nginx.conf", port)]
        elif name == "haproxy":
            command = ["haproxy", "-db", "-f", self.config("haproxy.cfg", port)]
        elif name == "caddy":
            command = ["caddy", "run", "--adapter", "caddyfile", "--config", self.config("Caddyfile", port)]
            environment = {"HOME": str(self.folder)}
        else:
            command, environment = [str(self.gateway)], self.gateway_environment(port)
        program = Program(name, port, command, self.folder, environment)
        self.running.append(program)
        self.verify(program)
        return program

    def stop(self, *programs):
        for program in programs or self.running[::-1]:
            self.running.remove(program)
            program.stop()

    def config(self, file, port):
        """Fills in a file of this folder: `@NAME@` stands for a value."""
        values = {
            "PORT": port, "UPSTREAM": self.upstream_port, "CORES": cores(), "FOLDER": self.folder,
            "USER": getpass.getuser(), "SECRET": self.secret, "SERVICE_KEY": self.service_key, "SMALL": SMALL,
            "DOWN": DOWN, "UP": UP, "SEEN": SEEN, "BALANCE": BALANCE,
        }
        text = (HERE / file).read_text()
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        (self.folder / file).write_text(text)
        return str(self.folder / file)

    def gateway_environment(self, port):
        """Limits are counted, but nothing is refused."""
        upstream, many = f"http://127.0.0.1:{self.upstream_port}", "1000000000"
        return {
            "HOST": "127.0.0.1", "PORT": str(port), "LOG_LEVEL": "warning", "JWT_SECRET_KEY": self.secret,
            "SERVICE_KEY": self.service_key, "AUTH_URL": upstream, "CREDITS_URL": upstream, "GROUPS_URL": upstream,
            "RATE_LIMIT": many, "RATE_LIMIT_USER": many, "RATE_LIMIT_UPLOAD": many, "CONNECTIONS_MAX": "20000",
            "CONNECTIONS_PER_IP_MAX": "20000",
        }

    def verify(self, program):
        """Waits for the first good answer, then makes sure that the program does what is to be measured."""
        bearer = {"Authorization": f"Bearer {self.token}"}
        deadline = time.monotonic() + 15
        status, body = None, b""
        while status != 200:
            try:
                status, body = program.request("GET", SMALL, bearer)
            except OSError as error:
                status = error
            if status != 200:
                if program.process.poll() is not None or time.monotonic() > deadline:
                    fail(f"{program}: {status} {body[:300]} to GET {SMALL}\n{program.last_words}")
                time.sleep(0.02)
        program.expect(f"GET {SMALL}", BALANCE.encode(), body)
        status, body = program.request("GET", DOWN, bearer)
        program.expect(f"GET {DOWN}", (200, MEGABYTE), (status, len(body)))
        program.expect(f"POST {UP}", 200, program.request("POST", UP, bearer, b"x" * MEGABYTE)[0])
        if program.name in SAME_JOB:
            self.verify_job(program, bearer)

    def verify_job(self, program, bearer):
        bad = {"a forged": token(self.secret, signed_with="x" * 32), "an expired": token(self.secret, lifetime=-60)}
        refused = {kind: {"Authorization": f"Bearer {text}"} for kind, text in bad.items()} | {"no": {}}
        for kind, headers in refused.items():
            for method, path, body in (("GET", SMALL, None), ("GET", DOWN, None), ("POST", UP, b"x")):
                status, _ = program.request(method, path, headers, body)
                program.expect(f"{method} {path} with {kind} token", 401, status)
        status, body = program.request("GET", SEEN, bearer | {"X-User-ID": "somebody", "X-Session-ID": "another"})
        program.expect(f"GET {SEEN}", 200, status)
        seen = json.loads(body)
        program.expect("has an id for the upstream", True, seen.pop("id") != "")
        wanted = {"user": USER, "session": SESSION, "key": self.service_key, "from": "127.0.0.1", "bearer": ""}
        program.expect("what the upstream sees", wanted, seen)
