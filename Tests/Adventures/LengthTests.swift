import Database
import Foundation
import NIOHTTP1
import RestQueries
import Support
import Testing

@testable import Adventures

/// Every text and every JSON that a client writes has a largest length.
@Suite struct LengthTests {
  /// More than any column takes, and less than a body may have.
  private static let long = String(repeating: "x", count: 300_000)

  @Test(arguments: engines) func noColumnTakesWhateverIsSent(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(isActive: false)
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      // What each table needs besides; the columns themselves are those of its declaration.
      let rows = [
        "adventure_plans": ["title": #""x""#], "saved_places": ["name": #""x""#], "scavenger_hunts": ["title": #""x""#],
        "hunt_checkpoints": ["title": #""x""#, "hunt_id": #""\#(hunt.id)""#],
        "checkpoint_submissions": ["checkpoint_id": #""\#(hunt.checkpoints[0])""#],
        "eta_shares": ["route_data": "{}", "recipients": #"["\#(alice.id)"]"#, "expires_at": #""\#(end)""#],
      ]
      for table in AdventureTables.schema.tables where table.allows(.post) {
        let row = try #require(rows[table.name], "\(table.name)")
        let columns = table.columns.filter(\.takesLongValues)
        #expect(!columns.isEmpty, "\(table.name)")
        for column in columns {
          let body = row.merging([column.name: Self.longValue(of: column)]) { $1 }
            .map { #""\#($0)": \#($1)"# }.joined(separator: ",")
          let refused = try await alice.rest(.POST, table.name, "{\(body)}")
          // Codes are made by the server.
          let expected = column.name == "invite_code" ? "403 42501" : "400 23514"
          #expect("\(refused.status) \(refused.string("code"))" == expected, "\(table.name).\(column.name)")
        }
      }
    }
  }

  @Test(arguments: engines) func aLocationMayHaveMoreThanItsPlaceUpToALength(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(points: [1], isActive: false)
      // `{"latitude":1,"longitude":2,"a":""}`
      func location(_ length: Int) -> String {
        #"{"latitude": 1, "longitude": 2, "a": "\#(String(repeating: "é", count: length - 35))"}"#
      }
      let path = "hunt_checkpoints?id=eq.\(hunt.checkpoints[0])"
      for (length, isAccepted) in [(10_000, true), (10_001, false)] {
        let changed = try await alice.rest(.PATCH, path, #"{"location": \#(location(length))}"#)
        #expect(changed.status == (isAccepted ? 200 : 400), "\(length): \(changed.text.prefix(300))")
        let checkpoint = #"{"title": "Here", "location": \#(location(length))}"#
        let made = try await alice.rest(
          .POST, "scavenger_hunts", #"{"title": "\#(length)", "checkpoints": [\#(checkpoint)]}"#)
        #expect(made.status == (isAccepted ? 201 : 400), "\(length): \(made.text.prefix(300))")
        #expect(try await alice.count("scavenger_hunts?title=eq.\(length)") == (isAccepted ? 1 : 0), "\(length)")
      }
      // Other members of a checkpoint may be changed, and its location be taken away.
      #expect(try await alice.rest(.PATCH, path, #"{"title": "There"}"#).status == 200)
      let cleared = try await alice.rest(.PATCH, path, #"{"location": null}"#)
      #expect(cleared.list.first?["location"] is NSNull, "\(cleared.text)")
    }
  }

  private static func longValue(of column: Column) -> String {
    switch column.name {
    case "stops": #"["\#(long)"]"#
    case "location": #"{"latitude": 1, "longitude": 1, "a": "\#(long)"}"#
    default: column.type == .json ? #"{"a": "\#(long)"}"# : #""\#(long)""#
    }
  }
}

extension Column {
  fileprivate var takesLongValues: Bool {
    guard type == .text || type == .json else { return false }
    switch writing {
    case .always, .onInsert, .onUpdate: return true
    default: return false
    }
  }
}
