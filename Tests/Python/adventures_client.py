"""Plans, places, hunts and shares through Supabase's own client; prints what it has done, one line each.

Arguments: the URL of the gateway, the tokens and ids of two users, and a time that is an hour away.
"""

import sys

from postgrest import APIError, SyncPostgrestClient

base, alice_token, alice_id, bob_token, bob_id, end = sys.argv[1:7]


def client(token):
    return SyncPostgrestClient(f"{base}/rest/v1", headers={"Authorization": f"Bearer {token}"})


alice, bob = client(alice_token), client(bob_token)


def refused(request, code):
    try:
        request.execute()
    except APIError as error:
        assert error.code == code, error.json()
        return
    raise AssertionError(f"{code} was expected")


plan = alice.from_("adventure_plans").insert({"title": "Trip", "stops": [{"name": "Café"}]}).execute().data[0]
assert plan["user_id"] == alice_id and plan["stops"][0]["name"] == "Café"
refused(alice.from_("adventure_plans").insert({"title": ""}), "23514")
refused(alice.from_("adventure_plans").insert({"title": "x", "user_id": bob_id}), "42501")
refused(alice.from_("adventure_plans").insert({"title": "x", "colour": "red"}), "PGRST204")
refused(alice.from_("adventure_plans").update({"status": "flying"}).eq("id", plan["id"]), "23514")
changed = alice.from_("adventure_plans").update({"status": "active"}).eq("id", plan["id"]).execute()
assert [row["status"] for row in changed.data] == ["active"]
assert alice.from_("adventure_plans").select("stops->0->>name").single().execute().data == {"name": "Café"}
assert bob.from_("adventure_plans").select("*").maybe_single().execute() is None
print("plans")

places = [{"name": f"Place {number}", "latitude": number, "category": "coffee"} for number in range(5)]
alice.from_("saved_places").insert(places).execute()
found = alice.from_("saved_places").select("name", count="exact").gt("latitude", 1).order("latitude", desc=True)
page = found.limit(2).execute()
assert page.count == 3 and [row["name"] for row in page.data] == ["Place 4", "Place 3"]
refused(alice.from_("saved_places").insert({"name": "x", "latitude": 91}), "23514")
refused(alice.from_("saved_places").select("*").eq("colour", "red"), "42703")
one = alice.from_("saved_places").select("*").eq("name", "Place 0").single().execute().data
merged = alice.from_("saved_places").upsert({"id": one["id"], "name": "First"}).execute().data
assert merged[0]["id"] == one["id"] and merged[0]["name"] == "First"
assert len(alice.from_("saved_places").delete().in_("name", ["First", "Place 1"]).execute().data) == 2
refused(alice.from_("saved_places").delete(), "21000")
print("places")

hunt = alice.from_("scavenger_hunts").insert(
    {"title": "City", "checkpoints": [{"title": "One", "points": 20}, {"title": "Two"}]}
).execute().data[0]
refused(alice.from_("scavenger_hunts").update({"status": "completed"}).eq("id", hunt["id"]), "23514")
alice.from_("scavenger_hunts").update({"status": "active"}).eq("id", hunt["id"]).execute()
assert bob.from_("scavenger_hunts").select("*").execute().data == []
response = bob.session.post("scavenger_hunts/join", json={"invite_code": hunt["invite_code"]})
assert response.status_code == 200, response.text
seen = bob.from_("scavenger_hunts").select("title,hunt_checkpoints(id,title)").single().execute().data
assert sorted(row["title"] for row in seen["hunt_checkpoints"]) == ["One", "Two"]
checkpoint = next(row["id"] for row in seen["hunt_checkpoints"] if row["title"] == "One")
bob.from_("checkpoint_submissions").insert({"checkpoint_id": checkpoint}).execute()
refused(bob.from_("checkpoint_submissions").insert({"checkpoint_id": checkpoint}), "23505")
refused(alice.from_("checkpoint_submissions").insert({"checkpoint_id": checkpoint}), "42501")
leader = alice.from_("hunt_leaderboard").select("*").eq("hunt_id", hunt["id"]).single().execute().data
assert leader["id"] == bob_id and leader["score"] == 20 and leader["totalCheckpoints"] == 2
print("hunts")

share = {"route_data": {"duration": 1800}, "recipients": [bob_id], "expires_at": end}
alice.from_("eta_shares").insert(share).execute()
assert len(bob.from_("eta_shares").select("*").is_("is_active", True).execute().data) == 1
assert len(alice.from_("eta_shares").select("*").contains("recipients", [bob_id]).execute().data) == 1
refused(alice.from_("eta_shares").insert(share | {"recipients": []}), "23514")
refused(alice.from_("eta_shares").insert(share | {"expires_at": "2020-01-01T00:00:00Z"}), "23514")
print("shares")

assert alice.rpc("health_check", {}).execute().data["status"] == "healthy"
assert alice.rpc("health_check_detailed", {}, get=True).execute().data["table_counts"]["saved_places"] == 3
print("functions")
