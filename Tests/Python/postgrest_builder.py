"""Prints the requests that each method of Supabase's builder for Python makes, as a JSON array."""
import datetime
import json
import uuid

import httpx
from postgrest import CountMethod, ReturnMethod, SyncPostgrestClient

sent = []


def record(request):
    sent.append(request)
    return httpx.Response(200, json=[])


client = SyncPostgrestClient(
    "http://localhost/rest/v1",
    http_client=httpx.Client(transport=httpx.MockTransport(record), base_url="http://localhost/rest/v1"))
table = client.table("places")
built = []


def add(name, builder):
    before = len(sent)
    try:
        builder.execute()
    except Exception:  # The answer is not what the builder expects; only the request matters.
        pass
    assert len(sent) == before + 1, name
    request = sent[-1]
    built.append({
        "name": name,
        "method": request.method,
        "query": request.url.query.decode(),
        "prefer": request.headers.get("Prefer"),
        "accept": request.headers.get("Accept"),
        "body": request.content.decode(),
    })


def rows(*columns):
    return table.select(*(columns or ("*",)))


now = datetime.datetime(2024, 1, 15, 12, 0, 0, 123456, tzinfo=datetime.timezone.utc)
for value in (5, "5"):
    for name in ("eq", "neq", "gt", "gte", "lt", "lte"):
        add(name, getattr(rows(), name)("stars", value))
add("eq_text", rows().eq("name", 'a,b ("c") \\ é & d=1 +'))
add("eq_bool", rows().eq("is_open", True))
add("eq_uuid", rows().eq("id", uuid.uuid4()))
add("gt_time", rows().gt("created_at", now))
add("lt_date", rows().lt("visited_on", now.date()))
add("eq_null", rows().eq("name", None))
for value in (None, True, False, "null", "not_null", "unknown"):
    add("is", rows().is_("is_open", value))
for name in ("like", "ilike"):
    add(name, getattr(rows(), name)("name", "%a_b*"))
for name in ("like_all_of", "like_any_of", "ilike_all_of", "ilike_any_of"):
    add(name, getattr(rows(), name)("name", "a*,%b"))
    add(name, getattr(rows(), name)("name", '"a,b",c'))
add("or", rows().or_('stars.eq.5,and(name.like.*a*,or(is_open.is.true,name.in.(a,"b,c")))'))
add("or_reference", rows("*", "notes(*)").or_("points.gt.1,text.eq.a", reference_table="notes"))
add("not", rows().not_.eq("stars", 5))
add("not_in", rows().not_.in_("stars", [1, 2]))
add("not_is", rows().not_.is_("name", "null"))
add("in", rows().in_("name", ["a", "b,c", 'd"e', "f(g)", "h\\i", "j:k", "", " l "]))
add("in_numbers", rows().in_("stars", [1, 2, 3]))
add("in_ids", rows().in_("id", [uuid.uuid4(), uuid.uuid4()]))
add("in_none", rows().in_("name", []))
for name in ("cs", "cd", "contains", "contained_by", "ov", "overlaps"):
    add(name, getattr(rows(), name)("tags", ["a", "b,c", 'd"e', "", "null", "{f}"]))
add("contains_object", rows().contains("details", {"a": 1, "b": [True, None], "c": "x,y"}))
add("contained_by_object", rows().contained_by("details", {"a": {"b": "c"}}))
add("contains_text", rows().contains("tags", "{a,b}"))
for name in ("sl", "sr", "nxl", "nxr", "adj", "range_gt", "range_gte", "range_lt", "range_lte", "range_adjacent"):
    add(name, getattr(rows(), name)("stars", (1, 5)))
for name in ("fts", "plfts", "phfts", "wfts"):
    add(name, getattr(rows(), name)("name", "cat"))
for options in ({}, {"type": "plain"}, {"type": "phrase", "config": "english"}, {"type": "web_search"}):
    add("text_search", rows().text_search("name", "cat", options))
add("filter", rows().filter("name", "imatch", "^a+$"))
add("match", rows().match({"name": "a", "stars": 5}))
add("json_path", rows("name", "details->menu->0->>dish").eq("details->menu->0->>dish", "tea").order("details->>dish"))
add("order", rows().order("name").order("stars", desc=True).order("seen_at", nullsfirst=True)
    .order("code", desc=True, nullsfirst=False))
add("order_embedded", rows("name", "notes(text)").order("text", foreign_table="notes", desc=True))
add("limit", rows().limit(5))
add("limit_embedded", rows("name", "notes(text)").limit(1, foreign_table="notes").limit(2))
add("offset", rows().offset(5))
add("range", rows().range(10, 19))
add("range_embedded", rows("notes(*)").range(0, 4, foreign_table="notes"))
for count in (CountMethod.exact, CountMethod.planned, CountMethod.estimated):
    add("count", table.select("*", count=count))
add("head", table.select("*", count=CountMethod.exact, head=True))
add("columns", rows("id", " title : name ", "stars::text", "notes ( text, points )", "n:notes!inner(count)"))
add("single", rows().limit(1).single())
add("maybe_single", rows().eq("stars", 5).maybe_single())
add("csv", rows().csv())
add("strip_nulls", rows().strip_nulls())
add("strip_nulls_single", rows().strip_nulls().single())
add("explain", rows().explain(analyze=True))
add("insert", table.insert({"name": "a", "tags": ["x"], "seen_at": now}))
add("insert_many", table.insert([{"name": "a", "stars": 1}, {"name": "b", "stars": 2}]))
add("insert_some", table.insert([{"name": "a"}, {"stars": 2}], default_to_null=False))
add("insert_minimal", table.insert({"name": "a"}, returning=ReturnMethod.minimal, count=CountMethod.exact))
add("insert_upsert", table.insert({"name": "a"}, upsert=True))
add("upsert", table.upsert({"name": "a", "code": "k"}, on_conflict="user_id,code"))
add("upsert_ignore", table.upsert([{"name": "a"}, {"name": "b"}], ignore_duplicates=True))
add("upsert_default", table.upsert({"name": "a"}, default_to_null=False, count=CountMethod.exact))
add("update", table.update({"name": "b"}).eq("id", uuid.uuid4()))
add("update_minimal", table.update({"stars": 1}, returning=ReturnMethod.minimal).gt("stars", 1))
add("update_max_affected", table.update({"stars": 1}).eq("stars", 1).max_affected(5))
add("delete", table.delete().eq("stars", 1))
add("delete_minimal", table.delete(returning=ReturnMethod.minimal, count=CountMethod.exact).in_("stars", [1]))
add("delete_max_affected", table.delete().eq("stars", 1).max_affected(1))
print(json.dumps(built))
