import Testing
import Wire

@testable import Events

/// The filters of `postgres_changes`.
@Suite struct ChangeFilterTests {
  private let row = JSONValue.object([
    "id": .integer(7), "title": .string("Buy milk"), "done": .bool(false), "note": .null, "weight": .number(1.5),
    "owner": .string("0199c0de-7a10-7c3e-8f11-2d3c4b5a6978"), "due_at": .string("2026-11-21T08:15:30Z"),
    "state": .string("a,b (c)"),
  ])

  @Test(arguments: [
    "id=eq.7", "id=neq.8", "id=lt.8", "id=lte.7", "id=gt.6", "id=gte.7", "id=in.(5,7)", "title=like.Buy%",
    "title=ilike.%MILK", "title=like.B_y*", "done=is.false", "note=is.null", "note=isdistinct.x", "id=isdistinct.8",
    "id=not.eq.8", "title=not.like.Sell%", "note=not.isdistinct.null", "id=eq.7,done=eq.false", "weight=gt.1.4",
    "weight=lt.2", "owner=eq.0199C0DE-7A10-7C3E-8F11-2D3C4B5A6978", "due_at=gt.2026-11-21T08:15:29.999Z",
    #"state=eq."a,b (c)""#, #"state=in.("a,b (c)","x")"#, "id=not.in.(1,2)", "title=eq. Buy milk ", "id=eq.7.0",
  ])
  func holds(_ text: String) throws {
    #expect(try ChangeFilter(text).matches(row))
  }

  @Test(arguments: [
    "id=eq.8", "id=neq.7", "id=lt.7", "id=gt.7", "id=in.(5,6)", "title=like.buy%", "title=like.milk", "done=is.true",
    "note=eq.x", "note=neq.x", "note=not.eq.x", "id=not.eq.7", "id=eq.7,done=eq.true", "missing=eq.1",
    "note=isdistinct.null", "weight=gt.1.5", #"state=eq."a,b""#, "due_at=gt.2026-11-21T08:15:30Z",
  ])
  func doesNotHold(_ text: String) throws {
    #expect(try !ChangeFilter(text).matches(row))
  }

  @Test(arguments: [
    "id", "id=", "id=eq", "=eq.1", "id=equals.1", "id=in.1", "id=in.(1", #"id=eq."x"#, "id=is.7", #"id=eq."a"b"#, ",",
    "id=eq.1,,", "id=match.(a+)+$",
  ])
  func cannotBeUnderstood(_ text: String) {
    #expect(throws: ChangeFilterInvalid.self) { try ChangeFilter(text) }
  }

  @Test func equalParametersHaveEqualIDsWhateverTheirOrder() throws {
    let first: JSONValue = .object(["event": .string("*"), "schema": .string("public"), "table": .string("tasks")])
    let other: JSONValue = .object(["event": .string("INSERT"), "schema": .string("public"), "table": .string("tasks")])
    #expect(try ChangeBinding(first).id == ChangeBinding(first).id)
    #expect(try ChangeBinding(first).id != ChangeBinding(other).id)
    #expect(try (1..<1 << 27).contains(ChangeBinding(other).id))
  }
}
