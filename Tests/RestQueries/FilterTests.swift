import Database
import RestQueries
import Support
import Testing
import Wire

/// Every operator on real rows of both engines.
@Suite struct FilterTests {
  static let rows = """
    [{"name":"Café","stars":5,"latitude":37.7749,"is_open":true,"seen_at":"2024-01-15T12:00:00Z",
      "visited_on":"2024-01-15","details":{"menu":[{"dish":"soup","price":4.5},{"dish":"tea"}],"wifi":true},
      "tags":["coffee","quiet"],"code":"a"},
     {"name":"bar","stars":2,"latitude":-122.4194,"is_open":false,"seen_at":"2024-01-16 12:00:00+02:00",
      "visited_on":null,"details":{"menu":[],"wifi":null},"tags":["loud"],"code":"b"},
     {"name":"Park_1%","stars":3,"latitude":null,"is_open":true,"seen_at":null,"visited_on":"2023-02-28",
      "details":null,"tags":[],"code":null}]
    """

  /// A query, and the names of the places that it finds, in the order of their names.
  static let found: [(String, String)] = [
    ("stars=eq.5", "Café"), ("stars=neq.5", "Park_1%,bar"), ("stars=gt.2", "Café,Park_1%"),
    ("stars=gte.3", "Café,Park_1%"),
    ("stars=lt.3", "bar"), ("stars=lte.2", "bar"), ("stars=not.eq.5", "Park_1%,bar"), ("stars=in.(2,3)", "Park_1%,bar"),
    ("stars=not.in.(2,3)", "Café"), ("stars=in.()", ""), ("stars=eq(any).{2,5}", "Café,bar"),
    ("stars=gt(all).{2,3}", "Café"), ("stars=eq(any).{}", ""),
    ("latitude=eq.37.7749", "Café"), ("latitude=lt.0", "bar"), ("latitude=gt.-1e3", "Café,bar"),
    ("latitude=is.null", "Park_1%"), ("latitude=is.NULL", "Park_1%"), ("latitude=not.is.null", "Café,bar"),
    ("latitude=is.not_null", "Café,bar"), ("latitude=isdistinct.37.7749", "Park_1%,bar"),
    ("latitude=in.(37.7749,1)", "Café"),
    ("is_open=eq.true", "Café,Park_1%"), ("is_open=eq.True", "Café,Park_1%"), ("is_open=is.false", "bar"),
    ("is_open=is.unknown", ""), ("is_open=in.(true)", "Café,Park_1%"),
    ("name=eq.Caf%C3%A9", "Café"), ("name=eq.%22bar%22", ""), ("name=like.*a*", "Café,Park_1%,bar"),
    ("name=like.b*", "bar"), ("name=like.B*", ""), ("name=ilike.B*", "bar"), ("name=ilike.c__%C3%A9", "Café"),
    ("name=like.Park%5C_1%5C%25", "Park_1%"), ("name=like.*%5C_*", "Park_1%"), ("name=like(any).{b*,C*}", "Café,bar"),
    ("name=ilike(all).{*A*,*R*}", "Park_1%,bar"), ("name=match.^[a-c]", "bar"), ("name=imatch.^[a-c]", "Café,bar"),
    ("name=match.(a|k)_?%5Cd", "Park_1%"), ("name=not.imatch.%5EC", "Park_1%,bar"),
    ("name=in.(bar,%22Park_1%25%22)", "Park_1%,bar"), ("name=gt.Q", "bar"), ("name=lt.Q", "Café,Park_1%"),
    ("seen_at=eq.2024-01-15T12:00:00.000Z", "Café"), ("seen_at=eq.2024-01-16+10:00:00", "bar"),
    ("seen_at=gte.2024-01-16T12:00:00%2B02:00", "bar"), ("seen_at=lt.2024-01-16", "Café"),
    ("seen_at=in.(2024-01-15T12:00:00)", "Café"),
    ("visited_on=eq.2024-01-15", "Café"), ("visited_on=lt.2024-01-01", "Park_1%"),
    ("tags=cs.{coffee}", "Café"), ("tags=cs.%7B%7D", "Café,Park_1%,bar"), ("tags=cd.{loud,\"coffee\"}", "Park_1%,bar"),
    ("tags=ov.{loud,quiet}", "Café,bar"), ("tags=ov.{}", ""), ("tags=eq.{loud}", "bar"),
    ("tags=neq.{loud}", "Café,Park_1%"),
    ("tags->>0=eq.loud", "bar"), ("tags->>-1=eq.quiet", "Café"),
    ("details->menu->0->>dish=eq.soup", "Café"), ("details->menu->-1->>dish=eq.tea", "Café"),
    ("details->menu->0->price=gt.4", "Café"), ("details->>wifi=is.null", "Park_1%,bar"),
    ("details->wifi=is.null", "Park_1%"),
    ("details->wifi=eq.true", "Café"), ("details=cs.{\"wifi\":true}", "Café"),
    ("details=cs.%7B%22menu%22:[%7B%22price%22:4.50%7D]%7D", "Café"), ("details=cd.{\"menu\":[],\"wifi\":null}", "bar"),
    ("details=eq.{\"wifi\":null,\"menu\":[]}", "bar"), ("details->menu=neq.[]", "Café"),
    ("details->menu=isdistinct.[]", "Café,Park_1%"),
    ("or=(stars.eq.5,name.eq.bar)", "Café,bar"), ("and=(stars.gt.2,is_open.is.true)", "Café,Park_1%"),
    ("not.or=(stars.eq.5,name.eq.bar)", "Park_1%"), ("or=( stars.eq.5 , and(stars.lt.3,name.like.b*) )", "Café,bar"),
    ("or=(not.and(stars.gt.2,stars.lt.4),name.in.(\"Park_1%25\"))", "Café,Park_1%,bar"),
    ("or=(tags.cs.{loud},name.eq.\"Café\")", "Café,bar"), ("or=(stars.not.eq.5,stars.eq(any).{5})", "Café,Park_1%,bar"),
    ("stars=gt.2&stars=lt.5", "Park_1%"), ("note_count=eq.0&name=eq.bar", "bar"),
  ]

  @Test(arguments: engines) func everyOperatorFindsItsRows(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post("places", Self.rows)
      for (query, names) in Self.found {
        let csv = try await app.get("places", query + "&select=name&order=name", accept: "text/csv")
        #expect(csv.split(separator: "\n").dropFirst().joined(separator: ",") == names, "\(query)")
      }
    }
  }

  /// What the grammar or the columns' types do not know, with its code.
  static let refused: [(String, String)] = [
    ("stars=5", "PGRST100"), ("stars=eqq.5", "PGRST100"), ("stars=eq", "PGRST100"), ("stars=not.not.eq.5", "PGRST100"),
    ("stars=eq(some).{1}", "PGRST100"), ("stars=neq(any).{1}", "PGRST100"), ("stars=in.5", "PGRST100"),
    ("stars=in.(5", "PGRST100"), ("stars=in.(5)x", "PGRST100"), ("stars=is.nothing", "PGRST100"),
    ("stars=is.nullx", "PGRST100"), ("name=fts.cat", "PGRST100"), ("name=wfts(english).cat", "PGRST100"),
    ("or=()", "PGRST100"), ("or=(stars.eq.5", "PGRST100"), ("or=stars.eq.5", "PGRST100"),
    ("or=(stars.eq.5))", "PGRST100"),
    ("or=(stars)", "PGRST100"), ("order=stars.up", "PGRST100"), ("order=", "PGRST100"), ("select=name,", "PGRST100"),
    ("select=name)", "PGRST100"), ("select=notes(text", "PGRST100"), ("select=...name", "PGRST100"),
    ("select=name::", "PGRST100"), ("columns=", "PGRST100"), ("stars=eq(any).{1,{2}}", "PGRST100"),
    ("name=eq.%FF", "PGRST100"),
    ("name=eq.%00", "22021"), ("(=eq.1", "PGRST100"), ("stars->=eq.1", "PGRST100"), ("stars.eq=1", "PGRST100"),
    ("nothing=eq.1", "42703"), ("order=nothing", "42703"), ("select=nothing", "42703"), ("stars->a=eq.1", "42883"),
    ("stars=eq.five", "22P02"), ("stars=eq.NULL", "22P02"), ("stars=eq.99999999999999999999", "22003"),
    ("id=eq.1", "22P02"), ("is_open=eq.maybe", "22P02"), ("latitude=eq.NaN", "22P02"), ("latitude=eq.1e999", "22003"),
    ("seen_at=gt.yesterday", "22007"), ("seen_at=gt.0001-01-01", "22008"), ("seen_at=gt.2024-02-30", "22007"),
    ("visited_on=eq.2024-13-01", "22007"), ("details=cs.{a", "22P02"), ("tags=cs.loud", "PGRST100"),
    ("stars=is.true", "42804"), ("stars=like.5*", "42883"), ("stars=cs.{5}", "42883"), ("tags=gt.{a}", "42883"),
    ("details=ov.{a}", "42883"), ("details=in.(1)", "42883"), ("stars=sl.(1,2)", "PGRST100"),
    ("name=like.a%5C", "22025"),
    ("name=match.(", "2201B"), ("name=match.a**", "2201B"), ("name=match.(a)%5C1", "2201B"),
    ("name=match.[z-a]", "2201B"),
    ("name=match.((a{90}){90}){90}", "2201B"), ("name=match.(?=a)", "2201B"), ("name=match.[[:alpha:]]", "2201B"),
    ("limit=-1", "PGRST103"), ("offset=-1", "PGRST103"), ("offset=99999999999999999999", "PGRST103"),
    ("notes.text=eq.a", "PGRST108"), ("select=stars.sum()", "PGRST123"), ("select=name,count()", "PGRST123"),
    ("select=name::money", "42704"), ("select=name::uuid", "22P02"), ("select=people(*)", "PGRST200"),
    ("select=...notes(text)", "PGRST119"),
    ("select=notes(text)&order=notes(text)", "PGRST118"), ("select=notes(text)&notes=eq.5", "PGRST120"),
    ("order=notes(text)", "PGRST108"), ("details=cs.\(values(500))", "PGRST100"),
    ("details=cd.\(values(500))", "PGRST100"), ("details=eq.{\"a\":\(values(499))}", "PGRST100"),
    ("details->menu=neq.\(values(500))", "PGRST100"),
  ]

  /// An array of numbers: with itself, one value more.
  private static func values(_ count: Int) -> String {
    "[\(Array(repeating: "1", count: count).joined(separator: ","))]"
  }

  @Test(arguments: engines) func whatIsNotKnownIsRefused(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post("places", Self.rows)
      for (query, code) in Self.refused {
        #expect(try await app.code(RestRequest(.get, "places", query: query)) == code, "\(query)")
      }
      #expect(try await app.code(RestRequest(.get, "nowhere")) == "PGRST205")
      #expect(try await app.get("places", "details=cs.\(Self.values(499))") == "[]")
    }
  }

  @Test(arguments: [
    ("stars=eqq.5", 1, "eqq.5"), ("stars=is.nothing", 4, "is.nothing"), ("or=(stars.eq.5", 12, "(stars.eq.5"),
    ("order=stars.up", 6, "stars.up"), ("select=name)", 5, "name)"), ("stars=in.(5,6", 8, "in.(5,6"),
    ("name=eq(any).5", 1, "5"), ("details->=eq.1", 10, "details->"),
    ("order=notes(text", 6, "notes(text"), ("name=x%41%4", 5, "x%41%4"), ("name=%41%FF%41", 4, "%41%FF%41"),
    ("%zz=eq.1", 1, "%zz"),
  ])
  func aFailureSaysWhereInTheText(query: String, column: Int, text: String) throws {
    let failure = #expect(throws: RestFailure.self) { try Query(parsing: query) }
    let message = try #require(failure?.message)
    #expect(message.contains("(line 1, column \(column))"), "\(message)")
    #expect(message.contains("(\(text))"))
    #expect(failure?.details?.contains("expecting") == true)
    #expect(failure?.status == 400)
  }

  @Test(arguments: [
    ("name=fts.bar", 1, "fts.bar"), ("name=not.wfts.bar", 5, "not.wfts.bar"),
    ("or=(stars.sl.5,name.eq.a)", 8, "(stars.sl"),
  ])
  func whatIsNotSupportedIsNamedWithItsPlace(query: String, column: Int, text: String) throws {
    let failure = #expect(throws: RestFailure.self) { try Query(parsing: query) }
    let message = try #require(failure?.message)
    #expect(message.contains("(line 1, column \(column))") && message.contains(text), "\(message)")
    #expect(failure?.details?.hasSuffix("is not supported") == true && failure?.code == "PGRST100")
  }

  @Test func everyBoundIsKept() {
    let deep = String(repeating: "and(", count: 9) + "stars.eq.1" + String(repeating: ")", count: 9)
    let many = Array(repeating: "stars=eq.1", count: 101).joined(separator: "&")
    let list = Array(repeating: "1", count: 501).joined(separator: ",")
    let embeds = String(repeating: "notes(places(", count: 3) + "name" + String(repeating: "))", count: 3)
    for query in [
      "or=(\(deep))", many, "name=match(any).{a,b,c,d,e}",
      Array(repeating: "name=imatch.a", count: 5).joined(separator: "&"), "stars=in.(\(list))", "select=\(embeds)",
      "stars=eq(any).{\(list)}",
      "a->b->b->b->b->b->b->b->b->b=eq.1", "name=eq." + String(repeating: "x", count: 17_000),
      "select=" + Array(repeating: "name", count: 61).joined(separator: ","),
      "order=" + Array(repeating: "name", count: 17).joined(separator: ","),
    ] {
      let failure = #expect(throws: RestFailure.self) { try Query(parsing: query) }
      #expect(failure?.code == "PGRST100", "\(query.prefix(60))")
    }
  }
}
