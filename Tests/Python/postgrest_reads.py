"""Reads by Supabase's builder for Python, each with its answer."""

from postgrest import CountMethod
from postgrest_calls import ALL, BAR, CAFE, EXACT, NOW, ODD, PARK, client, expect, notes, rows, table

# Comparisons.
for value in (3, "3"):
    expect(rows().eq("stars", value), "Park_1%")
    expect(rows().neq("stars", value), "Café,bar")
    expect(rows().gt("stars", value), "Café")
    expect(rows().gte("stars", value), "Café,Park_1%")
    expect(rows().lt("stars", value), "bar")
    expect(rows().lte("stars", value), "bar,Park_1%")
expect(notes.select("points").eq("text", ODD), [{"points": 2}])
expect(rows().eq("is_open", True), "Café,Park_1%")
expect(rows().eq("id", BAR), "bar")
expect(rows().gt("seen_at", NOW), "bar")
expect(rows().lt("visited_on", NOW.date()), "Park_1%")
expect(rows().gt("note_count", 1), "Café")
expect(rows().eq("code", None), [])  # The text "null"; `is_` finds what is null.
expect(rows().eq("stars", None), "400 22P02")
expect(rows().eq("details", {"wifi": None, "menu": []}), "bar")
expect(rows().eq("details->menu", []), "bar")
expect(rows().eq("tags", ["loud"]), "bar")  # PostgREST takes no JSON for an array of texts: 22P02.
expect(rows().eq("nothing", 1), "400 42703")
for value, answer in ((None, "Park_1%"), ("null", "Park_1%"), ("not_null", "Café,bar")):
    expect(rows().is_("latitude", value), answer)
for value, answer in ((True, "Café,Park_1%"), (False, "bar"), ("unknown", [])):
    expect(rows().is_("is_open", value), answer)
expect(rows().is_("stars", True), "400 42804")
expect(rows().match({"name": "bar", "stars": 2}), "bar")
expect(rows().match({"name": "bar", "stars": 5}), [])

# Patterns.
expect(rows().like("name", "*ar_%"), "Park_1%")
expect(rows().like("name", "%\\_1\\%"), "Park_1%")
expect(rows().like("name", "CAF_"), [])
expect(rows().ilike("name", "CAF_"), "Café")
expect(rows().like("name", "%\\"), "400 22025")
expect(rows().like("stars", "5*"), "404 42883")
expect(rows().like_all_of("name", "*a*,%r%"), "bar,Park_1%")
expect(rows().like_any_of("name", '"b*,x",C*'), "Café")
expect(rows().ilike_all_of("name", "*A*,%R%"), "bar,Park_1%")
expect(rows().ilike_any_of("name", "c*,B%"), "Café,bar")

# Lists and what is within a value.
expect(rows().in_("name", ["Café", "b,c", 'd"e', "f(g)", "h\\i", "j:k", "", " l ", "bar"]), "Café,bar")
expect(notes.select("points").in_("text", ["good", ODD]).order("points"), [{"points": 2}, {"points": 3}])
expect(rows().in_("stars", [2, 3, 7]), "bar,Park_1%")
expect(rows().in_("id", [PARK, CAFE]), "Café,Park_1%")
expect(rows().in_("name", []), [])
expect(rows().in_("code", ["a", None]), "Café")
expect(rows().in_("is_open", [True]), "Café,Park_1%")
expect(rows().in_("is_open", [None, True]), "400 22P02")
texts = ["a", "b,c", 'd"e', "", "null", "{f}", " g "]
expect(rows().cs("tags", ["quiet", "coffee"]), "Café")
expect(rows().cs("tags", texts), [])
expect(rows().cd("tags", [*texts, "loud"]), "bar,Park_1%")
expect(rows().ov("tags", [*texts, "quiet"]), "Café")
expect(rows().ov("tags", "{loud,quiet}"), "Café,bar")
expect(rows().ov("details", {"wifi": True}), "404 42883")
expect(rows().overlaps("tags", [*texts, "loud"]), "bar")
expect(rows().contains("tags", ["coffee"]), "Café")
expect(rows().contains("tags", "{coffee,quiet}"), "Café")
expect(rows().contains("details", {"menu": [{"dish": "soup"}], "wifi": True}), "Café")
expect(rows().contains("details", {"wifi": [True, None], "menu": "x,y"}), [])
expect(rows().contained_by("tags", ["loud"]), "bar,Park_1%")
expect(rows().contained_by("tags", "{quiet,coffee,b}"), "Café,Park_1%")
expect(rows().contained_by("details", {"menu": [], "wifi": None, "x": {"y": 1}}), "bar")

# No column is a range, and nothing searches texts.
for name in ("sl", "sr", "nxl", "nxr", "adj", "range_gt", "range_gte", "range_lt", "range_lte", "range_adjacent"):
    expect(getattr(rows(), name)("stars", (1, 5)), "400 PGRST100")
for name in ("fts", "plfts", "phfts", "wfts"):
    expect(getattr(rows(), name)("name", "cat"), "400 PGRST100")
for options in ({}, {"type": "plain"}, {"type": "phrase", "config": "english"}, {"type": "web_search"}):
    expect(rows().text_search("name", "cat", options), "400 PGRST100")

# Operators without a method of their own.
expect(rows().filter("name", "match", "^[a-z]+$"), "bar")
expect(rows().filter("name", "imatch", "^[a-z]+$"), "bar")
expect(rows().filter("name", "imatch", "^c"), "Café")
expect(rows().filter("latitude", "isdistinct", "37.7749"), "bar,Park_1%")
expect(rows().filter("stars", "eq(any)", "{2,5}"), "Café,bar")
expect(rows().filter("stars", "gt(all)", "{2,3}"), "Café")
expect(rows().filter("stars", "not.gte(any)", "{3,9}"), "bar")
expect(rows().filter("stars", "near", "3"), "400 PGRST100")

# Alternatives and negations.
expect(rows().or_('stars.eq.5,and(name.like.*a*,or(is_open.is.true,name.in.(a,"b,c")))'), "Café,Park_1%")
expect(rows().or_("and(stars.gt.3,is_open.is.true),not.and(stars.gt.2,is_open.is.true)"), "Café,bar")
expect(rows().or_('name.eq."Park_1%",tags.cs.{loud},stars.not.lt.9'), "bar,Park_1%")
expect(rows().or_("stars.eq.5,"), "400 PGRST100")
either = "points.gt.3,text.eq.green"
expect(rows("name", "notes(points)").or_(either, reference_table="notes"), [
    {"name": "Café", "notes": [{"points": 5}]}, {"name": "bar", "notes": []},
    {"name": "Park_1%", "notes": [{"points": 1}]}])
expect(rows("name", "notes(points)").not_.or_(either, reference_table="notes"), [
    {"name": "Café", "notes": [{"points": 3}]}, {"name": "bar", "notes": [{"points": 2}]},
    {"name": "Park_1%", "notes": []}])
expect(rows().not_.or_("stars.eq.5,name.eq.bar"), "Park_1%")
expect(rows().not_.eq("stars", 5), "bar,Park_1%")
expect(rows().not_.eq("stars", 5).eq("is_open", True), "Park_1%")
expect(rows().not_.in_("stars", [2, 3]), "Café")
expect(rows().not_.is_("latitude", "null"), "Café,bar")
expect(rows().not_.like("name", "*a_"), "Café,Park_1%")
expect(rows().not_.cs("tags", texts), ALL)
expect(rows().not_.contains("tags", ["loud"]), "Café,Park_1%")
expect(rows().not_.contains("details", {"wifi": True}), "bar")
expect(rows().not_.filter("name", "imatch", "^c"), "bar,Park_1%")

# Columns, and rows within rows.
expect(table.select(), ALL)
expect(rows("name", "details->menu->0->>dish").eq("details->menu->0->>dish", "soup"), [
    {"name": "Café", "dish": "soup"}])
expect(rows(" title : name ", "stars::text", "notes ( points )", "n:notes!inner(count)").gt("stars", 2), [
    {"title": "Café", "stars": "5", "notes": [{"points": 3}, {"points": 5}], "n": [{"count": 2}]},
    {"title": "Park_1%", "stars": "3", "notes": [{"points": 1}], "n": [{"count": 1}]}])
expect(rows("count"), [{"count": 3}])
expect(rows("name", "notes(points)").gt("notes.points", 2), [
    {"name": "Café", "notes": [{"points": 3}, {"points": 5}]}, {"name": "bar", "notes": []},
    {"name": "Park_1%", "notes": []}])
expect(rows("name", "notes!inner(points)").gt("notes.points", 3), [{"name": "Café", "notes": [{"points": 5}]}])
expect(rows("name", "notes()").gt("notes.points", 2).is_("notes", None), [{"name": "bar"}, {"name": "Park_1%"}])
expect(rows("name", "notes()").gt("notes.points", 2).not_.is_("notes", None), [{"name": "Café"}])
expect(rows("name", "notes!place_id(points)").eq("stars", 3), [{"name": "Park_1%", "notes": [{"points": 1}]}])
expect(rows("name", "notes!nothing(points)"), "400 PGRST200")
expect(rows("people(*)"), "400 PGRST200")
expect(rows("name").eq("notes.points", 1), "400 PGRST108")
expect(notes.select("points", "places!place_id(name)").eq("points", 1), [{"points": 1, "places": {"name": "Park_1%"}}])
expect(notes.select("points", "place:place_id(name)").eq("points", 2), [{"points": 2, "place": {"name": "bar"}}])
expect(notes.select("points", "...places(name)").gt("places.stars", 3).gt("points", 1).order("points"), [
    {"points": 2, "name": None}, {"points": 3, "name": "Café"}, {"points": 5, "name": "Café"}])
expect(rows("name", "...notes(points)"), "400 PGRST119")  # As in PostgREST 12; later ones make arrays of it.

# Order and pages.
expect(rows().order("is_open").order("stars", desc=True), "bar,Café,Park_1%")
expect(rows().order("seen_at", desc=True), "Park_1%,bar,Café")
expect(rows().order("seen_at", nullsfirst=True), "Park_1%,Café,bar")
expect(rows().order("seen_at", desc=True, nullsfirst=False), "bar,Café,Park_1%")
expect(rows().order("details->>wifi", nullsfirst=True).order("stars"), "bar,Park_1%,Café")
expect(rows().order("nothing"), "400 42703")
expect(rows("name", "notes(points)").order("points", foreign_table="notes", desc=True).eq("stars", 5), [
    {"name": "Café", "notes": [{"points": 5}, {"points": 3}]}])
expect(notes.select("points", "places(stars)").order("places(stars)", desc=True).order("points").limit(3), [
    {"points": 3, "places": {"stars": 5}}, {"points": 5, "places": {"stars": 5}},
    {"points": 1, "places": {"stars": 3}}])
expect(notes.select("points").order("places(stars)"), "400 PGRST108")
expect(rows("name", "notes(points)").order("notes(points)"), "400 PGRST118")
expect(rows().limit(2), "Café,bar")
expect(rows().limit(0), [])
expect(rows().limit(-1), "416 PGRST103")
expect(rows().offset(1), "bar,Park_1%")
expect(rows().offset(5), [])
expect(rows().range(1, 1), "bar")
embedded = rows("notes(points)").order("points", foreign_table="notes", desc=True).limit(1)
expect(embedded.limit(1, foreign_table="notes"), [{"notes": [{"points": 5}]}])
embedded = rows("notes(points)").order("points", foreign_table="notes", desc=True).limit(1)
expect(embedded.range(1, 4, foreign_table="notes"), [{"notes": [{"points": 3}]}])
for count in CountMethod:
    expect(table.select("*", count=count), ALL, "of 3")
expect(table.select("*", count=EXACT).range(1, 1), "206 bar of 3")
expect(table.select("*", count=EXACT).offset(5), "416 PGRST103")
expect(table.select("*", count=EXACT, head=True).gt("stars", 2), "of 2")
expect(table.select(head=True), "")

# Forms of the answer, and schemas.
expect(rows("name", "stars").limit(1).single(), {"name": "Café", "stars": 5})
expect(rows().single(), "406 PGRST116")
expect(rows().eq("stars", 9).single(), "406 PGRST116")
expect(rows("name").eq("stars", 5).maybe_single(), [{"name": "Café"}])
expect(rows().eq("stars", 9).maybe_single(), [])
expect(rows("name", "code").csv(), "name,code\nCafé,a\nbar,b\nPark_1%,")
expect(rows("name", "code").gt("stars", 2).strip_nulls(), [{"name": "Café", "code": "a"}, {"name": "Park_1%"}])
expect(rows("name", "code").eq("stars", 3).strip_nulls().single(), {"name": "Park_1%"})
for form in ("text", "json"):
    expect(rows().explain(analyze=True, format=form), "406 PGRST107")
expect(client.schema("public").table("places").select("*"), ALL)
expect(client.schema("auth").table("places").select("*"), "406 PGRST106")
expect(client.schema("auth").table("places").insert({"name": "a"}), "406 PGRST106")
expect(client.table("nothing").select("*"), "404 PGRST205")
