"""Kith's programs with the settings of the benchmark, and the data that they serve."""
import secrets

from harness.machine import fail, free_port
from harness.postgres import CONNECTIONS
from harness.program import Program
from harness.tokens import access_token

SERVICES = ["auth", "invites", "groups", "lists", "credits", "events", "adventures", "timepoints"]
# Limits are counted, but nothing is refused.
MANY = 1_000_000_000
LIMITS = {name: MANY for name in [
    "RATE_LIMIT", "RATE_LIMIT_USER", "RATE_LIMIT_UPLOAD", "RATE_LIMIT_SIGN_IN", "RATE_LIMIT_REFRESH",
    "RATE_LIMIT_SEARCH", "RATE_LIMIT_PHOTO", "RATE_LIMIT_SOCKET"]} | {
        "CONNECTIONS_MAX": 20_000, "CONNECTIONS_PER_IP_MAX": 20_000, "WEBSOCKETS_MAX": 20_000,
        "WEBSOCKETS_PER_IP_MAX": 20_000}

USERS = 1_000
ACCOUNTS = 100_000


def user_id(number):
    return f"00000000-0000-0000-0000-{number:012}"


def session_id(number):
    return f"00000000-0000-0000-0001-{number:012}"


def uuid_sql(number, group=0):
    """The text of such an id in SQL, where `number` is an expression: group 0 has the users, group 1 the sessions."""
    return f"('00000000-0000-0000-{group:04}-' || lpad(({number})::text, 12, '0'))"


class Kith:
    """Starts programs of Kith that belong together: they share secrets, and know each other's ports."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.started = programs, folder, 0
        self.keys = {name: secrets.token_urlsafe(32) for name in ["gateway", *SERVICES]}
        self.jwt_secret, self.admin_key = secrets.token_hex(32), secrets.token_urlsafe(32)
        self.data_keys = f"data:{secrets.token_urlsafe(32)}"

    def launch(self, name, postgres=None, is_logging=True, core=None, peers=(), ports=None, environment=None):
        """Starts a program. `peers` are services that it calls, by name.

        Without `postgres` it has SQLite files in an empty folder. The default log level is kept with `is_logging`.
        `ports` are variables such as PORT; by default all are free ones.
        """
        self.started += 1
        folder = self.folder / f"{name}-{self.started}"
        folder.mkdir()
        if ports is None:
            inner = [f"{service.upper()}_PORT" for service in SERVICES] if name == "kith" else []
            ports = {variable: free_port() for variable in ["PORT", *inner]}
        settings = LIMITS | self.secrets(name) | {"DATA_DIR": folder / "data"} | ports
        for peer in peers:
            settings[f"{peer.name.removeprefix('kith-').upper()}_URL"] = f"http://127.0.0.1:{peer.port}"
        if postgres:
            settings |= {"DATABASE_URL": postgres.url, "DATABASE_CONNECTIONS": CONNECTIONS}
        if not is_logging:
            settings["LOG_LEVEL"] = "warning"
        settings |= environment or {}
        program = Program(name, [self.program(name)], folder, ports.get("PORT", 8080), settings, core)
        program.settings = settings
        return program

    def program(self, name):
        path = self.programs / name
        if not path.exists():
            fail(f"{path} does not exist")
        return path

    def secrets(self, name):
        """The variables that every process needs; the gateway and services present keys of their own."""
        own = self.keys.get(name.removeprefix("kith-"))
        return {
            "JWT_SECRET_KEY": self.jwt_secret, "ADMIN_API_KEY": self.admin_key, "DATA_KEYS": self.data_keys,
            "SERVICE_KEYS": ",".join(f"{name}:{key}" for name, key in self.keys.items()),
        } | ({"SERVICE_KEY": own} if own else {})

    def users_file(self, name, numbers):
        """A file for phone.lua: user, session and access token of the accounts with these numbers."""
        path = self.folder / name
        if not path.exists():
            lines = []
            for number in numbers:
                user, session = user_id(number), session_id(number)
                lines.append(f"{user} {session} {access_token(self.jwt_secret, user, session)}\n")
            path.write_text("".join(lines))
        return path
