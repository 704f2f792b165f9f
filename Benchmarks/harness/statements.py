"""Scripts of pgbench, and whether they have the statements that a service sends for a request."""
import collections, re, time

from harness.services import uuid_sql

# What a script may write as @name(…)@, in SQL. `:run` is another number in each run, `:count` in each transaction.
RUN = "concat(:run::text, '-', :client_id::text, '-', :count::text)"
UNIQUE = ("(lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0')"
          f" || substr(md5({RUN}), 1, 20))::uuid")
MACROS = {
    "user": lambda number: f"{uuid_sql(number)}::@type@",
    # Like the ids of operations it begins with the time; the same in the whole transaction.
    "unique": lambda _: UNIQUE,
    # As unique(), but the same in all transactions of a run of the script.
    "serial": lambda _: f"(lpad(to_hex(1790000000000 + :count), 12, '0') || substr(md5({RUN}), 1, 20))::uuid",
    "digest": lambda _: f"sha256(convert_to({RUN}, 'UTF8'))",
    "refresh_token": lambda number:
        f"sha256(convert_to('refresh-token-of-the-benchmark-' || :run::text || '-' || ({number})::text, 'UTF8'))",
    "bytes": lambda count: f"convert_to(repeat('x', {count}), 'UTF8')",
}
MACRO = re.compile(r"@(\w+)\(([^@]*)\)@")

# A line of PostgreSQL's log with a statement; a prepared one is logged each time it is executed.
LOGGED = re.compile(r"LOG:  (?:statement|execute [^:]*): (.*)")
# What is a parameter in one of them and a constant or an expression in the other.
VALUE = re.compile(
    r"""(?:@\w+\([^@]*\)@ | '(?:[^']|'')*' | (?<!:):\w+ | \$\d+ | (?<![\w.?])-?\d+(?:\.\d+)?\b
      | \bnow\(\)(?:\s[+-]\sinterval\s'[^']*')? | \b(?:true|false|null)\b)(?:::\w+(?:\[\])?)?""", re.VERBOSE)
TRANSACTION = re.compile(r"(begin|commit|end|rollback)\b")


def filled(text, user_type):
    """A script for pgbench. `user_type` is the type of the columns with users: uuid, or text in credits."""
    return MACRO.sub(lambda found: MACROS[found[1]](found[2]), text).replace("@type@", user_type)


def normalised(statement):
    """The statement without layout and values, so that only its shape is compared."""
    text = VALUE.sub("?", re.sub(r"\s+", " ", statement.strip()).lower())
    text = re.sub(r"\s*([(),=<>+-])\s*", r"\1", text)
    return re.sub(r"\((?:\?,)+\?\)", "(?)", text)


def shapes_of_script(text):
    """How often a transaction of the script sends each shape."""
    lines = [line for line in text.splitlines() if not line.startswith("\\")]
    statements = re.split(r";|\\gset", "\n".join(lines))
    shapes = [normalised(statement) for statement in statements if statement.strip()]
    return collections.Counter(shape for shape in shapes if not TRANSACTION.match(shape))


class StatementLog:
    """Logs every statement while it is open: `with StatementLog(postgres) as log`."""

    def __init__(self, postgres):
        self.postgres, self.statements = postgres, []

    def __enter__(self):
        self.set("all")
        self.start = (self.postgres.data / "log").stat().st_size
        return self

    def __exit__(self, *_):
        self.set("none")
        with open(self.postgres.data / "log") as log:
            log.seek(self.start)
            # A statement of several lines goes on in lines that begin with a tab.
            lines = log.read().replace("\n\t", " ").splitlines()
        self.statements = [found[1] for line in lines if (found := LOGGED.search(line))]

    def set(self, value):
        self.postgres.sql(f"alter system set log_statement = '{value}'")
        self.postgres.sql("select pg_reload_conf()")
        time.sleep(0.3)  # Until the backends have read it.

    def shapes(self, requests):
        """How often each shape was logged for a request, without what is sent rarely or by background tasks."""
        shapes = (normalised(statement) for statement in self.statements)
        counts = collections.Counter(shape for shape in shapes if not TRANSACTION.match(shape))
        rounded = {shape: round(count / requests) for shape, count in counts.items()}
        return collections.Counter({shape: count for shape, count in rounded.items() if count})


def differences(sent, scripted):
    """What only the service sends, and what only the script does, as lines."""
    return [f"+ {shape}" for shape in (sent - scripted).elements()] + [
        f"- {shape}" for shape in (scripted - sent).elements()]
