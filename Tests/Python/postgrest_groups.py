"""Calls `social_groups`, `group_members` and `users` with supabase-py's client for tables, with right and wrong input.

Arguments: the gateway's address, the access tokens of Alice and of Bob, the ids of Alice and of Bob, a token that has
expired.
"""

import httpx
from postgrest import APIError, CountMethod, ReturnMethod, SyncPostgrestClient

# A busy machine may need more than the default of five seconds, which all clients share.
for part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, 60)

BASE, ALICE, BOB, ALICE_ID, BOB_ID, EXPIRED = sys.argv[1:7]
NOBODY = "01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"


def client(token):
    return SyncPostgrestClient(f"{BASE}/rest/v1", headers={"apikey": "anything", "Authorization": f"Bearer {token}"})


def refused(code, builder, what=""):
    try:
        answer = builder.execute()
    except APIError as failure:
        assert failure.code == code, (what, failure.code, code, failure.message)
        assert failure.message, failure
        return failure
    raise AssertionError(f"{what} not refused with {code}: {answer}")


def all_refused(*cases):
    """Each case is what is wrong, the call, and the code that it fails with."""
    for what, call, code in cases:
        refused(code, call, what)


def join(token, code):
    return httpx.post(
        f"{BASE}/rest/v1/social_groups/join", json={"invite_code": code}, headers={"Authorization": f"Bearer {token}"})


alice, bob = client(ALICE), client(BOB)
groups, members = alice.table("social_groups"), alice.table("group_members")

# Making groups, one and several, with and without their rows.
made = groups.insert({"name": "Weekend Warriors", "description": "Trips"}).execute().data[0]
assert made["created_by"] == ALICE_ID and made["member_count"] == 1 and len(made["invite_code"]) == 6, made
assert made["qr_code"].endswith("/i/" + made["invite_code"]), made
assert groups.insert({"name": "Quiet"}, returning=ReturnMethod.minimal).execute().data == []
several = groups.insert([{"name": "North"}, {"name": "South", "description": "Sun"}], default_to_null=False).execute()
assert [row["name"] for row in several.data] == ["North", "South"], several
refused("23502", groups.insert({"description": "nameless"}))
refused("23514", groups.insert({"name": "x" * 101}))
refused("PGRST204", groups.insert({"name": "x", "colour": "red"}))
refused("42501", groups.insert({"name": "x", "created_by": BOB_ID}))
refused("23505", groups.insert({"id": made["id"], "name": "again"}))
refused("22P02", groups.insert({"id": "1", "name": "x"}))

# Reading them.
assert groups.select("*", count=CountMethod.exact).execute().count == 4
head = groups.select("*", count=CountMethod.exact, head=True).execute()
assert head.count == 4 and not head.data, head
ordered = groups.select("name").order("name", desc=True).limit(2).execute().data
assert [row["name"] for row in ordered] == ["Weekend Warriors", "South"], ordered
assert groups.select("name").range(1, 2).order("name").execute().data == [{"name": "Quiet"}, {"name": "South"}]
assert groups.select("name").eq("id", made["id"]).single().execute().data == {"name": "Weekend Warriors"}
assert groups.select("name").eq("id", NOBODY).maybe_single().execute() is None
assert groups.select("name").in_("name", ["North", 'a"b', "c,d"]).execute().data == [{"name": "North"}]
assert groups.select("name").is_("description", None).order("name").execute().data == [
    {"name": "North"}, {"name": "Quiet"}]
assert groups.select("name").or_("name.eq.North,description.ilike.s*").order("name").execute().data == [
    {"name": "North"}, {"name": "South"}]
assert groups.select("name").eq("name", "North").csv().execute().data == "name\nNorth"
embedded = groups.select("name, group_members(user_id)").eq("id", made["id"]).execute().data
assert embedded == [{"name": "Weekend Warriors", "group_members": [{"user_id": ALICE_ID}]}], embedded
counted = groups.select("group_members(count)").eq("id", made["id"]).execute().data
assert counted == [{"group_members": [{"count": 1}]}], counted
refused("PGRST116", groups.select("*").single())
refused("42703", groups.select("member_count_max"))
refused("42703", groups.select("*").eq("closed_at", "x"))
refused("PGRST200", groups.select("*, users(*)"))
refused("22P02", groups.select("*").eq("id", "1"))
refused("PGRST205", alice.table("membership").select("*"))
refused("PGRST106", alice.schema("auth").table("social_groups").select("*"))

# Nobody else sees them, or their members.
for name in ("social_groups", "group_members"):
    assert bob.table(name).select("*").execute().data == [], name
assert bob.table("group_members").select("*").eq("group_id", made["id"]).maybe_single().execute() is None
own = members.select("user_id, social_groups(name)").eq("group_id", made["id"]).maybe_single().execute().data
assert own == {"user_id": ALICE_ID, "social_groups": {"name": "Weekend Warriors"}}, own

# Joining, by the route and by a row with the code.
for body in ({}, {"invite_code": None}, {"invite_code": 7}):
    missing = httpx.post(
        f"{BASE}/rest/v1/social_groups/join", json=body, headers={"Authorization": f"Bearer {BOB}"})
    assert missing.status_code == 400 and missing.json()["error"]["code"] == "VALIDATION_ERROR", (body, missing.text)
joined = join(BOB, made["invite_code"].lower())
assert joined.status_code == 200 and joined.json()["member_count"] == 2, joined.text
wrong = join(BOB, "AAAAAA")
assert wrong.status_code == 404 and wrong.json()["error"]["code"] == "GROUP_NOT_FOUND", wrong.text
north = several.data[0]
seats = bob.table("group_members")
row = seats.insert({"group_id": north["id"], "invite_code": north["invite_code"]}).execute().data[0]
assert row["user_id"] == BOB_ID and row["group_id"] == north["id"] and "invite_code" not in row, row
refused("23505", seats.insert({"group_id": north["id"], "user_id": BOB_ID, "invite_code": north["invite_code"]}))
refused("42501", seats.insert({"group_id": several.data[1]["id"]}))
refused("42501", seats.insert({"group_id": several.data[1]["id"], "invite_code": north["invite_code"]}))
refused("42501", seats.insert({"group_id": north["id"], "user_id": ALICE_ID, "invite_code": north["invite_code"]}))

# Reading members: those of one's own groups.
both = members.select("user_id").eq("group_id", north["id"]).order("user_id").execute().data
assert [member["user_id"] for member in both] == sorted([ALICE_ID, BOB_ID]), both
assert seats.select("*").eq("id", row["id"]).execute().data == [row]
assert members.select("user_id").eq("group_id", made["id"]).neq("user_id", ALICE_ID).execute().data == [
    {"user_id": BOB_ID}]
mine = seats.select("*", count=CountMethod.planned).eq("user_id", BOB_ID).limit(1).offset(1).execute()
assert mine.count == 2 and len(mine.data) == 1, mine
assert seats.select("*").eq("group_id", several.data[1]["id"]).execute().data == []
again = {"group_id": north["id"], "invite_code": north["invite_code"]}
assert seats.upsert(again, on_conflict="group_id,user_id", ignore_duplicates=True).execute().data == []
all_refused(
    ("a column that is not there", members.select("colour"), "42703"),
    ("a filter on it", members.select("*").eq("colour", "red"), "42703"),
    ("a code, which is no column", members.select("invite_code"), "42703"),
    ("no operator", members.select("*").filter("user_id", "equals", BOB_ID), "PGRST100"),
    ("no id", members.select("*").eq("group_id", "1"), "22P02"),
    ("nothing beside it", members.select("*, users(*)"), "PGRST200"),
    ("two rows as one", members.select("*").eq("group_id", north["id"]).single(), "PGRST116"),
    ("a change", members.update({"user_id": BOB_ID}).eq("group_id", north["id"]), "PGRST117"),
    ("a change by a new row", seats.upsert(again, on_conflict="group_id,user_id"), "42501"),
    ("leaving everything", seats.delete(), "21000"),
    ("removing everybody", members.delete(), "21000"),
)
assert members.select("*", count=CountMethod.exact, head=True).eq("group_id", north["id"]).execute().count == 2

# Changing and leaving.
theirs = bob.table("social_groups")
assert theirs.update({"name": "Mine"}).eq("id", made["id"]).execute().data == []
assert theirs.delete().eq("id", made["id"]).execute().data == []
renamed = groups.update({"name": "Warriors", "invite_code": None}).eq("id", made["id"]).execute().data[0]
assert renamed["name"] == "Warriors" and renamed["invite_code"] != made["invite_code"], renamed
assert groups.upsert({"id": made["id"], "name": "Upserted"}).execute().data[0]["name"] == "Upserted"
all_refused(*((f"a group with {change}", groups.update(change).eq("id", made["id"]), code) for change, code in [
    ({"name": ""}, "23514"), ({"name": "  "}, "23514"), ({"name": "x" * 101}, "23514"), ({"name": None}, "23502"),
    ({"description": "x" * 1001}, "23514"), ({"invite_code": "MYCODE"}, "428C9"), ({"qr_code": "x"}, "428C9"),
    ({"member_count": 9}, "42501"), ({"created_by": BOB_ID}, "42501"), ({"colour": "red"}, "PGRST204"),
]))
all_refused(
    ("an upsert of a group of another", theirs.upsert({"id": made["id"], "name": "Mine"}), "23505"),
    ("an upsert without a name", groups.upsert({"description": "nameless"}), "23502"),
    ("an upsert with an empty name", groups.upsert({"id": made["id"], "name": ""}), "23514"),
    ("an upsert with a code", groups.upsert({"name": "x", "invite_code": "MYCODE"}), "428C9"),
    ("an upsert for another", groups.upsert({"id": made["id"], "name": "x", "created_by": BOB_ID}), "42501"),
    ("an upsert by a column that is not unique", groups.upsert({"name": "x"}, on_conflict="name"), "42P10"),
)
assert groups.select("name, created_by").eq("id", made["id"]).single().execute().data == {
    "name": "Upserted", "created_by": ALICE_ID}
assert groups.select("*", count=CountMethod.exact, head=True).execute().count == 4
refused("21000", groups.update({"name": "everything"}))
refused("21000", groups.delete())
refused("PGRST124", groups.update({"description": "x"}).gt("member_count", 0).max_affected(1))
assert seats.delete().eq("group_id", north["id"]).eq("user_id", BOB_ID).execute().data[0]["user_id"] == BOB_ID
assert members.delete(returning=ReturnMethod.minimal).eq("user_id", BOB_ID).execute().data == []
assert theirs.select("*").execute().data == []
assert groups.delete(count=CountMethod.exact).in_("name", ["Quiet", "South"]).execute().count == 2

# Oneself.
users = alice.table("users")
assert users.select("id, email").execute().data == [{"id": ALICE_ID, "email": "alice@example.com"}]
assert users.update({"display_name": "Alice A."}).eq("id", ALICE_ID).execute().data[0]["display_name"] == "Alice A."
assert users.update({"display_name": "Mallory"}).eq("id", BOB_ID).execute().data == []
refused("42501", users.update({"email": "x@example.com"}).eq("id", ALICE_ID))
refused("23514", users.update({"avatar_url": "file:///etc/passwd"}).eq("id", ALICE_ID))
refused("PGRST301", client("nonsense").table("users").select("*"))
late = client(EXPIRED).table("social_groups")
for builder in [
    late.select("*"), late.insert({"name": "Late"}), late.update({"name": "Late"}).eq("id", north["id"]),
    late.upsert({"id": north["id"], "name": "Late"}), late.delete().eq("id", north["id"]),
]:
    assert refused("PGRST303", builder).message == "JWT expired", builder
assert groups.select("name").eq("id", north["id"]).execute().data == [{"name": north["name"]}]
print("done")
