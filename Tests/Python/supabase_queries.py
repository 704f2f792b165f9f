"""Filters, pages and forms of select with supabase-py, each with the rows that it finds, and what each table refuses.

Prints what it has done, one line each. Arguments: the gateway's address, a time that is an hour away.
"""

import httpx
from postgrest import APIError, CountMethod
from supabase import create_client

# A busy machine may need more than the default of five seconds, which all clients share.
for part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, 60)

BASE, END = sys.argv[1:3]
KEY = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"
NOBODY = "01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"
TABLES = (
    "adventure_plans", "checkpoint_submissions", "eta_shares", "group_members", "hunt_checkpoints", "hunt_leaderboard",
    "hunt_participants", "saved_places", "scavenger_hunts", "social_groups", "users")


def signed_up(name):
    app = create_client(BASE, KEY)
    return app, app.auth.sign_up({"email": f"{name}@example.com", "password": "correct horse"}).user.id


(alice, ALICE), (bob, BOB), (mallory, MALLORY) = signed_up("alice"), signed_up("bob"), signed_up("mallory")
signed_out = create_client(BASE, KEY)


def refused(*cases):
    """Each case is what is wrong, the call, and the code that it fails with."""
    for what, call, code in cases:
        try:
            answer = call.execute()
        except APIError as failure:
            assert failure.code == code, (what, code, failure.code, failure.message, failure.details)
            assert failure.message, what
        else:
            raise AssertionError(f"{what}: not refused with {code}: {answer}")


def rows(builder):
    return builder.execute().data


def count(table):
    return table.select("*", count=CountMethod.exact, head=True).execute().count


def found(column, *cases):
    """Each case is what is asked, the query, and the values of the column in the rows that it finds."""
    for what, query, expected in cases:
        values = [row[column] for row in rows(query.order(column))]
        assert values == expected, (what, values, expected)


# Filters on texts, numbers and times.
places = alice.table("saved_places")
rows(places.insert([
    {"name": "Café", "latitude": 48.2, "longitude": 16.4, "category": "coffee"},
    {"name": "Castle", "latitude": 50, "category": "sight"},
    {"name": "Cinema", "latitude": -10.5},
    {"name": "park", "latitude": 0, "category": "green, quiet"},
]))


def place():
    return places.select("name")


found(
    "name",
    ("eq", place().eq("latitude", 50), ["Castle"]),
    ("neq", place().neq("name", "Café"), ["Castle", "Cinema", "park"]),
    ("neq leaves out null", place().neq("category", "coffee"), ["Castle", "park"]),
    ("gt", place().gt("latitude", 0), ["Café", "Castle"]),
    ("gt of a text", place().gt("name", "Castle"), ["Cinema", "park"]),
    ("gte", place().gte("latitude", 0), ["Café", "Castle", "park"]),
    ("lt", place().lt("latitude", 0), ["Cinema"]),
    ("lte", place().lte("latitude", 0), ["Cinema", "park"]),
    ("gt and lt", place().gt("latitude", -11).lt("latitude", 49), ["Café", "Cinema", "park"]),
    ("gt and lt of a time", place().gt("created_at", "2020-01-01T00:00:00Z").lt("created_at", "2100-01-01T00:00:00Z"), [
        "Café", "Castle", "Cinema", "park"]),
    ("like", place().like("name", "Ca%"), ["Café", "Castle"]),
    ("like of another case", place().like("name", "P*"), []),
    ("ilike", place().ilike("name", "P_RK"), ["park"]),
    ("like of any", place().like_any_of("name", "*é,p*"), ["Café", "park"]),
    ("like of all", place().like_all_of("name", "C*,*a"), ["Cinema"]),
    ("ilike of any", place().ilike_any_of("name", "CAS*,PAR*"), ["Castle", "park"]),
    ("ilike of all", place().ilike_all_of("name", "c*,*E"), ["Castle"]),
    ("an expression", place().filter("name", "imatch", "^ca"), ["Café", "Castle"]),
    ("is null", place().is_("category", None), ["Cinema"]),
    ("is not_null", place().is_("category", "not_null"), ["Café", "Castle", "park"]),
    ("in", place().in_("category", ["coffee", "green, quiet"]), ["Café", "park"]),
    ("in of numbers", place().in_("latitude", [50, -10.5]), ["Castle", "Cinema"]),
    ("match", place().match({"name": "Cinema", "latitude": -10.5}), ["Cinema"]),
    ("not gt", place().not_.gt("latitude", 0), ["Cinema", "park"]),
    ("not like", place().not_.like("name", "C*"), ["park"]),
    ("not is null", place().not_.is_("category", None), ["Café", "Castle", "park"]),
    ("not in", place().not_.in_("name", ["Café", "park"]), ["Castle", "Cinema"]),
    ("not or", place().not_.or_("name.eq.park,latitude.gt.49"), ["Café", "Cinema"]),
)

# Filters on JSON and arrays.
plans = alice.table("adventure_plans")
rows(plans.insert([
    {"title": "Idea"},
    {"title": "Trip", "stops": [{"name": "Café"}, {"name": "Museum"}], "route_data": {"distance": 5.2}},
    {"title": "Walk", "stops": [], "route_data": {"distance": 3, "on": "foot"}},
], default_to_null=False))
way = {"distance": 3, "on": "foot", "by": "day"}
found(
    "title",
    ("contains of an array", plans.select("title").contains("stops", '[{"name": "Museum"}]'), ["Trip"]),
    ("contains of an object", plans.select("title").contains("route_data", {"on": "foot"}), ["Walk"]),
    ("not contains", plans.select("title").not_.contains("route_data", {"on": "foot"}), ["Trip"]),
    ("contained by", plans.select("title").contained_by("route_data", way), ["Walk"]),
    ("gt of a number in JSON", plans.select("title").gt("route_data->distance", 4), ["Trip"]),
    ("eq of a text in JSON", plans.select("title").eq("route_data->>on", "foot"), ["Walk"]),
)
shares = alice.table("eta_shares")
share = rows(shares.insert({"route_data": {"duration": 60}, "recipients": [BOB], "expires_at": END}))[0]
found(
    "id",
    ("contains", shares.select("id").contains("recipients", [BOB]), [share["id"]]),
    ("contained by", shares.select("id").contained_by("recipients", [BOB, MALLORY]), [share["id"]]),
    ("overlaps", shares.select("id").overlaps("recipients", [BOB, MALLORY]), [share["id"]]),
    ("overlaps with others", shares.select("id").overlaps("recipients", [MALLORY]), []),
    ("not overlaps", shares.select("id").not_.overlaps("recipients", [MALLORY]), [share["id"]]),
    ("is true", shares.select("id").is_("is_active", True), [share["id"]]),
    ("is false", shares.select("id").is_("is_active", False), []),
)
print("filters")

# Pages, counts, one row, and the forms of its columns.
page = places.select("name", count=CountMethod.planned).order("name").limit(2).offset(1).execute()
assert page.count == 4 and page.data == [{"name": "Castle"}, {"name": "Cinema"}], page
assert places.select("*", count=CountMethod.estimated, head=True).execute().count == 4
ordered = rows(place().order("category", desc=True, nullsfirst=False))
assert [row["name"] for row in ordered] == ["Castle", "park", "Café", "Cinema"], ordered
assert rows(place().eq("latitude", 50).maybe_single()) == {"name": "Castle"}
assert place().eq("latitude", 51).maybe_single().execute() is None
assert rows(places.select("name, category, longitude").eq("name", "Cinema").strip_nulls()) == [{"name": "Cinema"}]
assert rows(places.select("name, category, longitude").eq("name", "park").strip_nulls().single()) == {
    "name": "park", "category": "green, quiet"}
day = rows(places.select("created_at").eq("name", "Café").single())["created_at"][:10]
cast = rows(places.select("place:name, latitude::text, at:longitude::int, made:created_at::date").eq("name", "Café"))
assert cast == [{"place": "Café", "latitude": "48.2", "at": 16, "made": day}], cast
refused(
    ("a cast to no type", places.select("name::money"), "42704"),
    ("a cast of no number", places.select("name::int"), "22P02"),
    ("more than one row", place().maybe_single(), "406"),
    ("no row", place().eq("latitude", 51).single(), "PGRST116"),
    ("an offset behind the end", places.select("name", count=CountMethod.exact).offset(9), "PGRST103"),
    ("a limit below zero", place().limit(-1), "PGRST103"),
    ("a pattern of a number", place().like("latitude", "5*"), "42883"),
)

# Hunts: bob takes part and submits.
hunts, doors = alice.table("scavenger_hunts"), alice.table("hunt_checkpoints")
submissions = alice.table("checkpoint_submissions")
hunt = rows(hunts.insert({"title": "City", "checkpoints": [
    {"title": "Red Door", "points": 20}, {"title": "Bridge", "photo_required": True}]}))[0]
rows(hunts.insert({"title": "Draft"}))
joined = httpx.post(
    f"{BASE}/rest/v1/scavenger_hunts/join", json={"invite_code": hunt["invite_code"]},
    headers={"Authorization": bob.postgrest.headers["Authorization"]})
assert joined.status_code == 200, joined.text
rows(hunts.update({"status": "active"}).eq("id", hunt["id"]))
door = rows(bob.table("hunt_checkpoints").select("id").eq("title", "Red Door").single())["id"]
one = rows(bob.table("checkpoint_submissions").insert({"checkpoint_id": door}))[0]
shown = rows(doors.select("door:title, worth:points::text, photo:photo_required::int").order("order_index"))
assert shown == [
    {"door": "Red Door", "worth": "20", "photo": 0}, {"door": "Bridge", "worth": "10", "photo": 1}], shown
assert rows(bob.table("hunt_checkpoints").select("title").is_("photo_required", False)) == [{"title": "Red Door"}]
assert rows(hunts.select("title, doors:hunt_checkpoints!inner(title)").eq("doors.title", "Bridge")) == [
    {"title": "City", "doors": [{"title": "Bridge"}]}]
assert rows(alice.table("hunt_participants").select("user_id, ...scavenger_hunts(title)")) == [
    {"user_id": BOB, "title": "City"}]
assert rows(alice.table("hunt_leaderboard").select("id, score").gt("score", 0)) == [{"id": BOB, "score": 20}]
assert rows(alice.table("users").select("mail:email")) == [{"mail": "alice@example.com"}]
seen = submissions.select("user_id, photo_url, verified, hunt_checkpoints(title)").eq("id", one["id"])
submitted = {"user_id": BOB, "photo_url": None, "verified": False, "hunt_checkpoints": {"title": "Red Door"}}
assert rows(seen) == [submitted], rows(seen)
del submitted["photo_url"]
assert rows(seen.strip_nulls()) == [submitted], rows(seen)
own = rows(bob.table("checkpoint_submissions").select("checkpoint_id").eq("user_id", BOB).is_("verified", False))
assert own == [{"checkpoint_id": door}], own
assert rows(submissions.select("id").eq("user_id", ALICE)) == []
assert rows(mallory.table("checkpoint_submissions").select("*").eq("id", one["id"])) == []
for name in TABLES:
    others = rows(mallory.table(name).select("id"))
    assert others == ([{"id": MALLORY}] if name == "users" else []), (name, others)
print("reads")

for name in TABLES:
    table = alice.table(name)
    refused(
        (f"a column that {name} has not", table.select("colour"), "42703"),
        (f"the same by HEAD of {name}", table.select("colour", head=True), "42703"),
        (f"a filter on it in {name}", table.select("*").eq("colour", "red"), "42703"),
        (f"an order by it in {name}", table.select("*").order("colour"), "42703"),
        (f"no operator in {name}", table.select("*").filter("id", "equals", ALICE), "PGRST100"),
        (f"no list in {name}", table.select("*").filter("id", "in", ALICE), "PGRST100"),
        (f"full-text search in {name}", table.select("*").text_search("id", "cat"), "PGRST100"),
        (f"no id in {name}", table.select("*").eq("id", "1"), "22P02"),
        (f"nothing beside {name}", table.select("*, nothing(*)"), "PGRST200"),
        (f"nobody in {name}", table.select("*").eq("id", NOBODY).single(), "PGRST116"),
        (f"{name} without a session", signed_out.table(name).select("*"), "PGRST301"),
    )
print("refused reads")

# Changes: of one row to what it may not be, and of all rows.
refused(*((f"a share with {change}", shares.update(change).eq("id", share["id"]), code) for change, code in [
    ({"expires_at": "2020-01-01T00:00:00Z"}, "23514"), ({"expires_at": "2100-01-01T00:00:00Z"}, "23514"),
    ({"expires_at": "soon"}, "22007"), ({"expires_at": None}, "23502"), ({"recipients": []}, "23514"),
    ({"recipients": [NOBODY]}, "23503"), ({"recipients": ["bob"]}, "23514"), ({"route_data": []}, "23514"),
    ({"route_data": None}, "23502"), ({"is_active": "maybe"}, "22P02"), ({"user_id": BOB}, "42501"),
    ({"colour": "red"}, "PGRST204"),
]))
refused(*((f"a submission with {change}", submissions.update(change).eq("id", one["id"]), code) for change, code in [
    ({"photo_url": "https://x.example/1.jpg"}, "42501"), ({"checkpoint_id": door}, "42501"),
    ({"user_id": BOB}, "42501"), ({"verified": "maybe"}, "22P02"), ({"verified": None}, "23502"),
    ({"colour": "red"}, "PGRST204"),
]))
changed = bob.table("checkpoint_submissions").update({"photo_url": "https://x.example/1.jpg"}).eq("id", one["id"])
refused(("the photo of a submission of one's own", changed, "42501"))
refused(*((f"DELETE of all {name}", alice.table(name).delete(), "21000") for name in (
    "adventure_plans", "eta_shares", "group_members", "hunt_checkpoints", "hunt_participants", "saved_places",
    "scavenger_hunts", "social_groups")))
refused(*((f"PATCH of all {name}", alice.table(name).update(change), "21000") for name, change in [
    ("adventure_plans", {"title": "x"}), ("checkpoint_submissions", {"verified": True}),
    ("eta_shares", {"is_active": False}), ("hunt_checkpoints", {"title": "x"}), ("saved_places", {"name": "x"}),
    ("scavenger_hunts", {"title": "x"}), ("social_groups", {"name": "x"}), ("users", {"display_name": "x"}),
]))
assert rows(shares.select("*")) == [share] and rows(submissions.select("*")) == [one]
found("title", ("hunts", hunts.select("title"), ["City", "Draft"]), ("doors", doors.select("title"), [
    "Bridge", "Red Door"]))
assert count(alice.table("hunt_participants")) == 1 and count(places) == 4 and count(plans) == 3
print("refused changes")

for name in ("health_check", "health_check_detailed", "get_system_metrics"):
    answer = alice.rpc(name, {}, head=True).execute()
    assert answer.data == [] and answer.count is None, (name, answer)
refused(
    ("HEAD of no function", alice.rpc("nothing", {}, head=True), "PGRST202"),
    ("HEAD without a session", signed_out.rpc("health_check", {}, head=True), "PGRST301"),
)
print("functions")
