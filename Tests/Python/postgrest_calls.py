"""Calls of Supabase's builder for Python, each with the answer that the request it makes is to have."""

import datetime
import json
import uuid

import httpx
import postgrest
from postgrest import CountMethod, SyncPostgrestClient

sent, built, called = [], [], set()


def record(request):
    sent.append(request)
    return httpx.Response(200, json=[])


def method_of(kind, name):
    """The name behind that of the class which defines it: two classes may have different methods of one name."""
    return next(f"{each.__name__}.{name}" for each in kind.__mro__ if name in vars(each))


class Call:
    """A builder, with the text of the calls that have made it."""

    def __init__(self, builder, text):
        self.builder, self.text = builder, text

    def __getattr__(self, name):
        called.add(method_of(type(self.builder), name))
        found, text = getattr(self.builder, name), f"{self.text}.{name}"
        if not callable(found):  # not_ is a property.
            return Call(found, text)

        def call(*values, **options):
            written = [repr(value) for value in values] + [f"{option}={value!r}" for option, value in options.items()]
            return Call(found(*values, **options), f"{text}({', '.join(written)})")

        return call


def expect(call, *answer):
    """Notes the request of a call with its answer.

    That is the status unless it is 200, then the names of whole rows or the body, then "of" and the number of all rows
    where it is asked for; of a refusal the status and the code.
    """
    before = len(sent)
    try:
        call.builder.execute()
    except Exception:  # The answer of `record` is not what each builder expects; only the request matters.
        pass
    assert len(sent) == before + 1, call.text
    request = sent[-1]
    header = request.headers.get
    built.append({
        "call": call.text,
        "method": request.method,
        "table": request.url.path.removeprefix("/rest/v1/"),
        "query": request.url.query.decode(),
        "prefer": header("Prefer"),
        "accept": header("Accept"),
        "contentType": header("Content-Type"),
        "profile": header("Accept-Profile" if request.method in ("GET", "HEAD") else "Content-Profile"),
        "body": request.content.decode(),
        "answer": " ".join(map(text, answer)),
    })


def text(part):
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def methods_called_nowhere():
    # What is no part of a request, and an older name of from_.
    outside = {"execute", "retry", "auth", "aclose", "from_table"}
    kinds = [kind for name, kind in vars(postgrest).items() if name.startswith("Sync")]
    names = [(kind, name) for kind in kinds for name in dir(kind) if not name.startswith("_") and name not in outside]
    return sorted({method_of(kind, name) for kind, name in names} - called)


client = Call(
    SyncPostgrestClient(
        "http://localhost/rest/v1",
        http_client=httpx.Client(transport=httpx.MockTransport(record), base_url="http://localhost/rest/v1")),
    "client")
table, notes = client.table("places"), client.from_("notes")


def rows(*columns):
    return table.select(*(columns or ("*",)))


# Of the rows in BuilderTests.swift: the ids of the places, and one of none, the text of a note, and all names.
CAFE, BAR, PARK, NEW = (uuid.UUID(f"0000000{number}-0000-7000-8000-000000000000") for number in range(4))
ODD = 'a,b ("c") \\ é & d=1 +'
ALL = "Café,bar,Park_1%"
NOW = datetime.datetime(2024, 1, 15, 12, 0, 0, 123456, tzinfo=datetime.timezone.utc)
EXACT = CountMethod.exact
