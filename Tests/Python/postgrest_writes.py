"""Inserts, changes and calls of functions by Supabase's builder for Python, each with its answer."""

from postgrest import ReturnMethod
from postgrest_calls import BAR, CAFE, EXACT, NEW, NOW, client, expect, notes, rows, table

MINIMAL = ReturnMethod.minimal

# Inserts.
expect(table.insert({"name": "a"}), "201 a")
expect(table.insert({"name": "a", "tags": ["x"], "seen_at": NOW}).select("name", "stars", "tags", "seen_at"), 201, [
    {"name": "a", "stars": 3, "tags": ["x"], "seen_at": "2024-01-15T12:00:00Z"}])
expect(table.insert({"name": "a"}, returning=MINIMAL, count=EXACT), "201 of 1")
expect(table.insert({"name": "a"}, returning=MINIMAL).select("name"), 201, [{"name": "a"}])
expect(table.insert({"name": "a"}, upsert=True), "201 a")
expect(table.insert({"name": "a"}).select("name", "stars").single(), 201, {"name": "a", "stars": 3})
expect(table.insert({"name": "a"}).select("name", "code").maybe_single(), 201, [{"name": "a", "code": None}])
expect(table.insert({"name": "a"}).select("name", "stars").csv(), "201 name,stars\na,3")
expect(table.insert({"name": "a"}).select("name", "code").strip_nulls(), 201, [{"name": "a"}])
two = [{"name": "b", "stars": 1}, {"name": "a", "stars": 2}]
expect(table.insert(two).select("name", "stars"), 201, two)
expect(table.insert(two, count=EXACT).select("name").order("name"), 201, [{"name": "a"}, {"name": "b"}], "of 2")
for page in (table.insert(two).limit(1), table.insert(two).range(1, 1)):  # All rows are made, and shown.
    expect(page, "201 b,a")
expect(table.insert(two).single(), "406 PGRST116")
expect(table.insert([{"name": "a"}, {"name": "b", "code": "k"}]).select("name", "code"), 201, [
    {"name": "a", "code": None}, {"name": "b", "code": "k"}])
some = [{"name": "a"}, {"name": "b", "stars": 5}]
expect(table.insert(some), "400 23502")
expect(table.insert(some, default_to_null=False).select("name", "stars"), 201, [
    {"name": "a", "stars": 3}, {"name": "b", "stars": 5}])
expect(table.insert([{"name": "a"}, {"stars": 2}], default_to_null=False), "400 23502")
expect(table.insert({"name": ""}), "400 23514")
expect(table.insert({"name": "a", "nothing": 1}), "400 PGRST204")
expect(table.insert({"name": "a", "user_id": NEW}), "403 42501")
expect(table.insert({"id": CAFE, "name": "a"}), "409 23505")

# Upserts.
expect(table.upsert({"name": "a", "code": "k"}, on_conflict="user_id,code"), "201 a")
expect(table.upsert({"name": "z", "code": "a"}, on_conflict="user_id,code").select("name", "stars", "code"), [
    {"name": "z", "stars": 5, "code": "a"}])
expect(table.upsert({"id": CAFE, "name": "z"}).select("name", "stars").single(), {"name": "z", "stars": 5})
expect(table.upsert([{"id": CAFE, "name": "z"}, {"id": NEW, "name": "a"}]).select("name", "stars").order("name"), 201, [
    {"name": "a", "stars": 3}, {"name": "z", "stars": 5}])
expect(table.upsert({"name": "a"}, returning=MINIMAL), "201")
expect(table.upsert({"id": CAFE, "name": "z"}, returning=MINIMAL), "")
expect(table.upsert({"name": "a"}, default_to_null=False, count=EXACT), "201 a of 1")
expect(table.upsert([{"name": "a"}, {"name": "b"}], ignore_duplicates=True), "201 a,b")
same = [{"name": "z", "code": "a"}, {"name": "b", "code": "k"}]
expect(table.upsert(same, on_conflict="user_id,code", ignore_duplicates=True).select("name"), 201, [{"name": "b"}])
expect(table.upsert({"name": "a"}, on_conflict="name"), "400 42P10")

# Updates. A limit is that of the rows which are changed, as in PostgREST 12.
expect(table.update({"name": "b"}).eq("id", BAR), "b")
expect(table.update({"stars": 1}).gt("stars", 2).select("name", "stars").order("stars").order("name", desc=True), [
    {"name": "Park_1%", "stars": 1}, {"name": "Café", "stars": 1}])
expect(table.update({"stars": 1}, count=EXACT).gt("stars", 2).order("code"), "Café,Park_1% of 2")
expect(table.update({"stars": 1}, returning=MINIMAL).gt("stars", 1), "204")
expect(table.update({"stars": 1}, returning=MINIMAL).eq("stars", 2).select("name"), [{"name": "bar"}])
expect(table.update({"code": None}).gt("stars", 1).order("visited_on").limit(1), "Park_1%")
expect(table.update({"code": None}).gt("stars", 1).order("visited_on").range(1, 1).select("name"), [{"name": "Café"}])
expect(table.update({"stars": 1}).eq("stars", 2).select("name", "stars").single(), {"name": "bar", "stars": 1})
expect(table.update({"stars": 1}).gt("stars", 2).single(), "406 PGRST116")
expect(table.update({"stars": 1}).eq("stars", 2).select("name").maybe_single(), [{"name": "bar"}])
expect(table.update({"stars": 1}).eq("stars", 2).select("name", "stars").csv(), "name,stars\nbar,1")
expect(table.update({"code": None}).eq("stars", 2).select("name", "code").strip_nulls(), [{"name": "bar"}])
expect(table.update({"stars": 1}).eq("stars", 3).max_affected(5), "Park_1%")
expect(table.update({"stars": 1}).gt("stars", 2).max_affected(1), "400 PGRST124")
expect(table.update({"stars": 1}).eq("stars", 9), [])
expect(table.update({"code": "a"}).eq("stars", 2), "409 23505")
expect(table.update({"stars": 1}), "400 21000")

# Deletions.
expect(table.delete().eq("stars", 2), "bar")
expect(table.delete().eq("stars", 3).select("name", "notes(points)"), [{"name": "Park_1%", "notes": [{"points": 1}]}])
expect(table.delete(count=EXACT).gt("stars", 2).order("stars"), "Park_1%,Café of 2")
expect(table.delete(returning=MINIMAL, count=EXACT).in_("stars", [2]), "204 of 1")
expect(table.delete(returning=MINIMAL).eq("stars", 2).select("name"), [{"name": "bar"}])
expect(table.delete().gt("stars", 1).order("visited_on").limit(1), "Park_1%")
expect(table.delete().gt("stars", 1).order("visited_on").range(1, 1).select("name"), [{"name": "Café"}])
expect(table.delete().eq("stars", 2).select("name").single(), {"name": "bar"})
expect(table.delete().gt("stars", 2).single(), "406 PGRST116")
expect(table.delete().eq("stars", 2).select("name").maybe_single(), [{"name": "bar"}])
expect(table.delete().eq("stars", 2).select("name").csv(), "name\nbar")
expect(table.delete().eq("stars", 3).select("name", "code").strip_nulls(), [{"name": "Park_1%"}])
expect(table.delete().gt("stars", 2).max_affected(1), "400 PGRST124")
expect(table.delete().eq("stars", 2).max_affected(1), "bar")
expect(table.delete(), "400 21000")

# A function is no table. Those that services have are called by supabase_adventures.py, and others are PGRST202 there.
near = {"stars": 5, "tags": ["a", "b,c"]}
for options in ({}, {"count": EXACT}, {"head": True}, {"get": True}):
    expect(client.rpc("near", near, **options), "404 PGRST205")
expect(client.rpc("near", near).select("name").eq("stars", 5).order("name").limit(1).single(), "404 PGRST205")
expect(client.rpc("near", near, get=True).maybe_single(), "404 PGRST205")
expect(client.rpc("near", near, get=True).csv(), "404 PGRST205")
