"""Every call to the tables, functions and files of adventures with supabase-py, with right and with wrong input.

Prints what it has done, one line each. Arguments: the gateway's address, a time that is an hour away, a photo.
"""

import httpx
from postgrest import APIError, CountMethod, ReturnMethod
from supabase import create_client

# A busy machine may need more than the default of five seconds, which all clients share.
for part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, 60)

BASE, END, PHOTO = sys.argv[1:4]
KEY = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"
NOBODY = "01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"


def signed_up(name):
    app = create_client(BASE, KEY)
    return app, app.auth.sign_up({"email": f"{name}@example.com", "password": "correct horse"}).user.id


(alice, ALICE), (bob, BOB), (mallory, MALLORY) = signed_up("alice"), signed_up("bob"), signed_up("mallory")


def refused(code, builder):
    try:
        answer = builder.execute()
    except APIError as failure:
        assert failure.code == code, (failure.code, code, failure.message, failure.details)
        assert failure.message, failure
        return failure
    raise AssertionError(f"not refused with {code}: {answer}")


def rows(builder):
    return builder.execute().data


def names(builder, column="name"):
    return [row[column] for row in rows(builder)]


def post(app, path, body=None):
    return httpx.post(
        f"{BASE}/rest/v1/{path}", json=body, headers={**dict(app.postgrest.headers), "prefer": ""})


# Plans: all verbs, of their owner only.
plans = alice.table("adventure_plans")
stops = [{"name": "Café", "latitude": 48.2}, {"name": "Museum"}]
plan = rows(plans.insert({"title": "Trip", "stops": stops, "route_data": {"distance": 5.2}}))[0]
assert plan["user_id"] == ALICE and plan["stops"] == stops and plan["status"] == "draft", plan
assert rows(plans.insert({"title": "Quiet"}, returning=ReturnMethod.minimal)) == []
several = [{"title": "North"}, {"title": "South", "description": "Sun"}]
assert names(plans.insert(several, default_to_null=False), "title") == ["North", "South"]
for code, row in [
    ("23502", {"description": "nameless"}), ("23514", {"title": ""}), ("23514", {"title": "x" * 201}),
    ("42501", {"title": "x", "user_id": BOB}), ("PGRST204", {"title": "x", "colour": "red"}),
    ("23514", {"title": "x", "status": "flying"}), ("23514", {"title": "x", "stops": {}}),
    ("23514", {"title": "x", "route_data": []}), ("23505", {"id": plan["id"], "title": "again"}),
    ("22P02", {"id": "1", "title": "x"}),
]:
    refused(code, plans.insert(row))
refused("23514", plans.insert([{"title": "One"}, {"title": ""}]))
assert plans.select("*", count=CountMethod.exact, head=True).execute().count == 4
assert rows(plans.select("stops->0->>name").eq("id", plan["id"]).single()) == {"name": "Café"}
assert names(plans.select("title").eq("stops->1->>name", "Museum"), "title") == ["Trip"]
assert names(plans.select("title").contains("route_data", {"distance": 5.2}), "title") == ["Trip"]
assert names(plans.select("title").order("title", desc=True).range(1, 2), "title") == ["South", "Quiet"]
assert names(plans.select("title").or_("title.like.N*,description.is.not_null").order("title"), "title") == [
    "North", "South"]
assert rows(plans.select("title").eq("title", "North").csv()) == "title\nNorth"
refused("PGRST116", plans.select("*").single())
refused("42703", plans.select("colour"))
refused("PGRST200", plans.select("*, users(*)"))
refused("PGRST100", plans.select("*").text_search("title", "cat"))
refused("22P02", plans.select("*").eq("id", "1"))
refused("PGRST107", plans.select("*").explain())
changed = rows(plans.update({"title": "Updated", "status": "active"}).eq("id", plan["id"]))[0]
assert changed["title"] == "Updated" and changed["status"] == "active" and changed["stops"] == stops, changed
refused("23514", plans.update({"status": "flying"}).eq("id", plan["id"]))
refused("42501", plans.update({"user_id": BOB}).eq("id", plan["id"]))
refused("PGRST124", plans.update({"description": "x"}).neq("title", "x").max_affected(2))
refused("21000", plans.update({"title": "everything"}))
assert rows(plans.upsert({"id": plan["id"], "title": "Merged"}))[0]["title"] == "Merged"
assert rows(plans.upsert({"id": plan["id"], "title": "Not"}, ignore_duplicates=True)) == []
theirs = bob.table("adventure_plans")
assert rows(theirs.select("*").eq("user_id", ALICE)) == []
assert theirs.select("*").eq("id", plan["id"]).maybe_single().execute() is None
assert rows(theirs.update({"title": "Mine"}).eq("id", plan["id"])) == []
assert rows(theirs.delete().eq("id", plan["id"])) == []
refused("23505", theirs.upsert({"id": plan["id"], "title": "Mine"}))
refused("21000", plans.delete())
assert plans.delete(count=CountMethod.exact).in_("title", ["North", "South"]).execute().count == 2
print("adventure_plans")

# Places.
places = alice.table("saved_places")
place = rows(places.insert({"name": "Café", "latitude": 48.2, "longitude": 16.4, "category": "coffee"}))[0]
assert place["user_id"] == ALICE and place["place_type"] == "coffee" and place["latitude"] == 48.2, place
rows(places.insert([{"name": f"Place {number}", "latitude": number} for number in range(5)]))
for code, row in [
    ("23514", {"name": "x", "latitude": 91}), ("23514", {"name": "x", "longitude": -181}), ("23502", {"address": "x"}),
    ("22P02", {"name": "x", "latitude": "north"}), ("428C9", {"name": "x", "place_type": "coffee"}),
    ("42501", {"name": "x", "user_id": BOB}),
]:
    refused(code, places.insert(row))
found = places.select("name", count=CountMethod.exact).gt("latitude", 1).order("latitude", desc=True).limit(2).execute()
assert found.count == 4 and [row["name"] for row in found.data] == ["Café", "Place 4"], found
assert names(places.select("name").in_("name", ["Café", 'a"b', "c,d"])) == ["Café"]
assert names(places.select("name").is_("category", None).gte("latitude", 4)) == ["Place 4"]
assert rows(places.update({"category": "tea"}).eq("id", place["id"]))[0]["place_type"] == "tea"
refused("428C9", places.update({"place_type": "tea"}).eq("id", place["id"]))
refused("42703", places.select("*").eq("colour", "red"))
refused("21000", places.update({"name": "everywhere"}))
refused("21000", places.delete())
assert rows(bob.table("saved_places").delete().eq("id", place["id"])) == []
assert len(rows(places.delete().in_("name", ["Place 0", "Place 1"]))) == 2
print("saved_places")

# Hunts of a group: bob is in the group, mallory is not.
group = rows(alice.table("social_groups").insert({"name": "Weekend Warriors"}))[0]
joined = post(bob, "social_groups/join", {"invite_code": group["invite_code"]})
assert joined.status_code == 200 and joined.json()["member_count"] == 2, joined.text
hunts = alice.table("scavenger_hunts")
checkpoints = [
    {"title": "Red Door", "location": {"latitude": 48.2, "longitude": 16.4}, "points": 20},
    {"title": "Bridge", "photo_required": True},
]
hunt = rows(hunts.insert({"title": "City", "checkpoints": checkpoints}))[0]
assert hunt["checkpoint_count"] == 2 and hunt["status"] == "draft" and hunt["created_by"] == ALICE, hunt
ours = rows(hunts.insert({"title": "Ours", "group_id": group["id"]}))[0]
for code, row in [
    ("23502", {"description": "nameless"}), ("23514", {"title": "x", "status": "active"}),
    ("42501", {"title": "x", "created_by": BOB}), ("42501", {"title": "x", "group_id": NOBODY}),
    ("42501", {"title": "x", "invite_code": "MYOWN"}), ("428C9", {"title": "x", "participant_count": 5}),
    ("23514", {"title": "x", "checkpoints": [{"title": "y", "points": 1001}]}),
    ("23514", {"title": "x", "checkpoints": "none"}),
    ("23514", {"title": "x", "start_time": "2026-01-02T00:00:00Z", "end_time": "2026-01-01T00:00:00Z"}),
]:
    refused(code, hunts.insert(row))
refused("42501", mallory.table("scavenger_hunts").insert({"title": "x", "group_id": group["id"]}))
refused("0A000", hunts.upsert({"id": hunt["id"], "title": "x"}))
assert rows(bob.table("scavenger_hunts").select("*").eq("id", hunt["id"])) == []
assert names(bob.table("scavenger_hunts").select("title").eq("group_id", group["id"]), "title") == ["Ours"]
assert rows(mallory.table("scavenger_hunts").select("*")) == []
for status in ("completed", "cancelled", "flying"):
    refused("23514", hunts.update({"status": status}).eq("id", hunt["id"]))
refused("42501", hunts.update({"group_id": group["id"]}).eq("id", hunt["id"]))
refused("42501", hunts.update({"invite_code": "MYOWN"}).eq("id", hunt["id"]))
assert rows(bob.table("scavenger_hunts").update({"title": "Mine"}).eq("id", ours["id"])) == []

# Its checkpoints, while it is a draft.
doors = alice.table("hunt_checkpoints")
third = rows(doors.insert({"hunt_id": hunt["id"], "title": "Tower"}))[0]
assert third["order_index"] == 2 and third["points"] == 10 and third["photo_required"] is False, third
refused("23514", doors.insert({"hunt_id": hunt["id"], "title": "x", "location": {"latitude": 100, "longitude": 0}}))
refused("42501", doors.insert({"hunt_id": NOBODY, "title": "x"}))
refused("42501", bob.table("hunt_checkpoints").insert({"hunt_id": ours["id"], "title": "x"}))
assert rows(doors.update({"points": 30}).eq("id", third["id"]))[0]["points"] == 30
refused("23514", doors.update({"points": -1}).eq("id", third["id"]))
assert len(rows(doors.delete().eq("id", third["id"]))) == 1
ordered = rows(hunts.select("title, hunt_checkpoints(title, points)").eq("id", hunt["id"])
               .order("order_index", foreign_table="hunt_checkpoints").single())
assert ordered["hunt_checkpoints"] == [{"title": "Red Door", "points": 20}, {"title": "Bridge", "points": 10}], ordered
started = rows(hunts.update({"status": "active"}).eq("id", hunt["id"]))[0]
assert started["status"] == "active" and started["start_time"], started
refused("42501", doors.insert({"hunt_id": hunt["id"], "title": "Late"}))
assert rows(doors.update({"points": 5}).eq("hunt_id", hunt["id"])) == []
assert rows(doors.delete().eq("hunt_id", hunt["id"])) == [] and rows(hunts.delete().eq("id", hunt["id"])) == []
print("scavenger_hunts, hunt_checkpoints")

# Taking part: by a code, by the group, and not otherwise.
unseen = post(bob, f"scavenger_hunts/{hunt['id']}/join")
assert unseen.status_code == 404 and unseen.json()["error"]["code"] == "HUNT_NOT_FOUND", unseen.text
wrong = post(bob, "scavenger_hunts/join", {"invite_code": "AAAAAAAA"})
assert wrong.status_code == 404 and wrong.json()["error"]["code"] == "HUNT_NOT_FOUND", wrong.text
assert post(bob, "scavenger_hunts/join", {}).json()["error"]["code"] == "VALIDATION_ERROR"
for _ in range(2):
    joined = post(bob, "scavenger_hunts/join", {"invite_code": hunt["invite_code"].lower()})
    assert joined.status_code == 200 and joined.json()["participant_count"] == 1, joined.text
assert post(bob, f"scavenger_hunts/{ours['id']}/join").json()["id"] == ours["id"]
assert post(mallory, f"scavenger_hunts/{ours['id']}/join").status_code == 404
seats = bob.table("hunt_participants")
seat = rows(seats.select("*, scavenger_hunts(title)").eq("hunt_id", hunt["id"]))[0]
assert seat["user_id"] == BOB and seat["scavenger_hunts"] == {"title": "City"}, seat
refused("PGRST117", seats.insert({"hunt_id": hunt["id"]}))
refused("PGRST117", seats.update({"user_id": BOB}).eq("id", seat["id"]))
assert rows(alice.table("hunt_participants").delete().eq("id", seat["id"])) == []
assert rows(mallory.table("hunt_participants").select("*")) == []

# Submitting, with a photo of one's own from the storage.
door, bridge = (row["id"] for row in rows(
    bob.table("hunt_checkpoints").select("id").eq("hunt_id", hunt["id"]).order("order_index")))
with open(PHOTO, "rb") as file:
    photo = file.read()
stored = bob.storage.from_("photos").upload(f"{BOB}/bridge.jpg", photo, {"content-type": "image/jpeg"})
url = f"https://kith.example/storage/v1/object/{stored.full_path}"
submissions = bob.table("checkpoint_submissions")
one = rows(submissions.insert({"checkpoint_id": door}))[0]
assert one["user_id"] == BOB and one["verified"] is False and one["photo_url"] is None, one
two = rows(submissions.insert({"checkpoint_id": bridge, "photo_url": url}))[0]
assert two["photo_url"] == url, two
refused("23505", submissions.insert({"checkpoint_id": door}))
assert rows(submissions.upsert(
    {"checkpoint_id": door}, on_conflict="checkpoint_id,user_id", ignore_duplicates=True)) == []
refused("42501", mallory.table("checkpoint_submissions").insert({"checkpoint_id": door}))
refused("42501", submissions.insert({"checkpoint_id": NOBODY}))
refused("42501", submissions.insert({"checkpoint_id": door, "user_id": ALICE}))
refused("42501", submissions.insert({"checkpoint_id": door, "verified": True}))
refused("PGRST117", submissions.delete().eq("id", one["id"]))
post(alice, "scavenger_hunts/join", {"invite_code": hunt["invite_code"]})
bare = alice.table("checkpoint_submissions")
refused("23514", bare.insert({"checkpoint_id": bridge}))
refused("23514", bare.insert({"checkpoint_id": bridge, "photo_url": "http://x.example/1.jpg"}))
assert rows(bare.update({"verified": True}).eq("id", two["id"]))[0]["verified"] is True
assert rows(submissions.update({"verified": False}).eq("id", two["id"])) == []
assert len(rows(bob.table("hunt_checkpoints").select("checkpoint_submissions(user_id)").eq("id", door).single())[
    "checkpoint_submissions"]) == 1
assert alice.storage.from_("photos").download(f"{BOB}/bridge.jpg")[:3] == b"\xff\xd8\xff"
signed = alice.storage.from_("photos").create_signed_url(f"{BOB}/bridge.jpg", 60)["signedURL"]
assert httpx.get(signed).status_code == 200
assert not mallory.storage.from_("photos").exists(f"{BOB}/bridge.jpg")
print("hunt_participants, checkpoint_submissions, storage")

board = alice.table("hunt_leaderboard")
leader, second = rows(board.select("*").eq("hunt_id", hunt["id"]))
assert leader["id"] == BOB and leader["score"] == 30 and leader["completedCheckpoints"] == 2, leader
assert leader["totalCheckpoints"] == leader["total_checkpoints"] == 2 and leader["last_submitted_at"], leader
assert second["id"] == ALICE and second["score"] == 0, second
assert names(board.select("score").eq("hunt_id", hunt["id"]).order("score"), "score") == [0, 30]
assert rows(mallory.table("hunt_leaderboard").select("*")) == []
refused("PGRST117", board.insert({"hunt_id": hunt["id"]}))
refused("PGRST117", board.update({"score": 1000}).eq("hunt_id", hunt["id"]))
refused("PGRST117", board.delete().eq("hunt_id", hunt["id"]))
assert rows(bob.table("scavenger_hunts").select("progress").eq("id", hunt["id"]).single()) == {"progress": 1}
assert rows(hunts.update({"status": "completed"}).eq("id", hunt["id"]))[0]["status"] == "completed"
refused("23514", hunts.update({"status": "active"}).eq("id", hunt["id"]))
refused("P0001", bare.insert({"checkpoint_id": door}))
assert post(mallory, "scavenger_hunts/join", {"invite_code": hunt["invite_code"]}).status_code == 400
assert len(rows(seats.delete().eq("id", seat["id"]))) == 1
assert rows(bob.table("scavenger_hunts").select("*").eq("id", hunt["id"])) == []
assert len(rows(hunts.delete().eq("id", ours["id"]))) == 1
print("hunt_leaderboard")

shares = alice.table("eta_shares")
share = {"route_data": {"duration": 1800, "distance": 5.2}, "recipients": [BOB], "expires_at": END}
shared = rows(shares.insert(share))[0]
assert shared["is_active"] is True and shared["recipients"] == [BOB] and shared["route_data"]["distance"] == 5.2, shared
assert len(rows(bob.table("eta_shares").select("*").is_("is_active", True))) == 1
assert len(rows(shares.select("*").contains("recipients", [BOB]))) == 1
assert len(rows(shares.select("*").overlaps("recipients", [BOB, MALLORY]))) == 1
assert rows(shares.select("*").contains("recipients", [MALLORY])) == []
assert rows(mallory.table("eta_shares").select("*")) == []
for code, member in [
    ("23514", {"recipients": []}), ("23514", {"expires_at": "2020-01-01T00:00:00Z"}),
    ("23514", {"expires_at": "2100-01-01T00:00:00Z"}), ("23503", {"recipients": [NOBODY]}),
    ("23514", {"recipients": ["bob"]}), ("23514", {"recipients": [BOB] * 51}), ("23514", {"route_data": []}),
    ("22007", {"expires_at": "soon"}), ("42501", {"user_id": BOB}),
]:
    refused(code, shares.insert(share | member))
refused("23502", shares.insert({"recipients": [BOB], "expires_at": END}))
assert rows(bob.table("eta_shares").update({"is_active": False}).eq("id", shared["id"])) == []
assert rows(shares.update({"recipients": [MALLORY]}).eq("id", shared["id"]))[0]["recipients"] == [MALLORY]
assert rows(bob.table("eta_shares").select("*")) == []
assert rows(shares.update({"is_active": False}).eq("id", shared["id"]))[0]["is_active"] is False
assert rows(mallory.table("eta_shares").select("*")) == []
refused("21000", shares.delete())
assert len(rows(shares.delete().eq("id", shared["id"]))) == 1
print("eta_shares")

assert rows(alice.table("users").select("id, email")) == [{"id": ALICE, "email": "alice@example.com"}]
avatar = alice.storage.from_("avatars").upload(f"{ALICE}/me.jpg", photo, {"content-type": "image/jpeg"})
link = f"https://kith.example/storage/v1/object/public/{avatar.full_path}"
named = rows(alice.table("users").update({"display_name": "Alice A.", "avatar_url": link}).eq("id", ALICE))[0]
assert named["avatar_url"] == link and named["display_name"] == "Alice A.", named
refused("23514", alice.table("users").update({"avatar_url": "http://x.example/1.jpg"}).eq("id", ALICE))
refused("42501", alice.table("users").update({"email": "x@example.com"}).eq("id", ALICE))
assert rows(alice.table("users").update({"display_name": "x"}).eq("id", BOB)) == []
refused("PGRST117", alice.table("users").insert({"email": "x@example.com"}))
refused("PGRST117", alice.table("users").delete().eq("id", ALICE))
print("users")

for by_get in (False, True):
    health = rows(alice.rpc("health_check", {}, get=by_get))
    assert health["status"] in ("healthy", "degraded") and health["services"]["database"] == "healthy", health
    assert set(health) >= {"status", "timestamp", "services", "version", "error"}, health
    detailed = rows(alice.rpc("health_check_detailed", {}, get=by_get))
    assert detailed["table_counts"]["saved_places"] == detailed["tableCounts"]["saved_places"] == 4, detailed
    assert set(detailed) >= {"auth", "storage", "environment", "errors"}, detailed
    metrics = rows(alice.rpc("get_system_metrics", {}, get=by_get))
    assert metrics["databaseSize"] is None and metrics["maxConnections"] is None and metrics["timestamp"], metrics
refused("PGRST205", alice.table("nothing").select("*"))
refused("PGRST202", alice.rpc("nothing", {}))
refused("PGRST202", alice.rpc("nothing", {}, get=True))
refused("PGRST106", alice.schema("auth").table("saved_places").select("*"))
refused("PGRST301", create_client(BASE, KEY).rpc("health_check", {}))
print("functions")
