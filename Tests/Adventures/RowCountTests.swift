import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// How many rows one has: what is beyond is refused, and changes nothing.
@Suite struct RowCountTests {
  private struct BoundTable {
    let name: String
    /// The required column.
    let column: String
    let rowsMax: Int

    func row(_ text: String) -> String { #"{"\#(column)": "\#(text)"}"# }
  }

  private static let tables = [
    BoundTable(name: "adventure_plans", column: "title", rowsMax: 1000),
    BoundTable(name: "scavenger_hunts", column: "title", rowsMax: 1000),
    BoundTable(name: "saved_places", column: "name", rowsMax: 5000),
  ]

  private func insert(_ count: Int, into table: BoundTable, as user: SignedInUser) async throws {
    // A few at a time, as a busy machine would not answer for a thousand before the gateway gives up.
    for start in stride(from: 0, to: count, by: 250) {
      let rows = Array(repeating: table.row("x"), count: min(250, count - start)).joined(separator: ",")
      let made = try await user.rest(.POST, table.name, "[\(rows)]", prefer: "return=minimal")
      guard made.status == 201 else { throw Unexpected(reply: made.text) }
    }
  }

  @Test(arguments: engines) func rowsOfOneUserHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for table in Self.tables {
        let (name, column) = (table.name, table.column)
        try await insert(table.rowsMax - 1, into: table, as: alice)
        let last = try await alice.rest(.POST, name, table.row("last"))
        #expect(last.status == 201, "\(last.text)")
        for preference in ["return=representation", "return=minimal", "resolution=ignore-duplicates"] {
          guard name != "scavenger_hunts" || !preference.hasPrefix("resolution") else { continue }
          let refused = try await alice.rest(.POST, name, table.row("more"), prefer: preference)
          #expect(refused.status == 400 && refused.string("code") == "54000", "\(name): \(refused.text)")
        }
        #expect(try await alice.count("\(name)?\(column)=eq.more") == 0, "\(name)")
        // Others have their own, what is there may be changed, and what is deleted makes room.
        #expect(try await bob.rest(.POST, name, table.row("x")).status == 201, "\(name)")
        #expect(try await alice.rest(.PATCH, "\(name)?\(column)=eq.last", table.row("end")).status == 200, "\(name)")
        #expect(try await alice.rest(.DELETE, "\(name)?\(column)=eq.end").status == 204, "\(name)")
        #expect(try await alice.rest(.POST, name, table.row("more")).status == 201, "\(name)")
      }
    }
  }

  /// None of them would see the rows of the others, if they did not wait.
  @Test(arguments: engines) func theBoundHoldsForInsertsAtTheSameTime(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for table in Self.tables {
        try await insert(table.rowsMax - 3, into: table, as: alice)
        let (name, row) = (table.name, table.row("more"))
        let statuses = try await atOnce(12) { number in
          // With a key it is another path to the same rows.
          let isUpsert = name != "scavenger_hunts" && number.isMultiple(of: 2)
          let prefer = isUpsert ? "resolution=merge-duplicates,return=minimal" : nil
          return try await alice.rest(.POST, name, row, prefer: prefer).status
        }
        #expect(statuses.sorted() == Array(repeating: 201, count: 3) + Array(repeating: 400, count: 9), "\(name)")
        let counted = try await alice.rest(.HEAD, "\(name)?limit=1", prefer: "count=exact")
        #expect(counted.headers.first(name: "content-range") == "0-0/\(table.rowsMax)", "\(name)")
      }
    }
  }

  @Test(arguments: engines) func checkpointsOfAHuntHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(points: [1], isActive: false)
      let row = #"{"hunt_id": "\#(hunt.id)", "title": "x"}"#
      let most = Array(repeating: row, count: 999).joined(separator: ",")
      #expect(try await alice.rest(.POST, "hunt_checkpoints", "[\(most)]", prefer: "return=minimal").status == 201)
      let refused = try await alice.rest(.POST, "hunt_checkpoints", row)
      #expect(refused.status == 400 && refused.string("code") == "54000", "\(refused.text)")
      // Nor does another spelling of the hunt's id get around it.
      for id in [" \(hunt.id)", hunt.id.uppercased()] {
        let other = try await alice.rest(.POST, "hunt_checkpoints", #"{"hunt_id": "\#(id)", "title": "x"}"#)
        #expect(other.status == 400, "\(other.text)")
      }
      #expect(try await alice.rows("scavenger_hunts?id=eq.\(hunt.id)").first?.int("checkpoint_count") == 1000)
      let other = try await alice.makeHunt(points: [], isActive: false)
      let second = #"{"hunt_id": "\#(other.id)", "title": "x"}"#
      #expect(try await alice.rest(.POST, "hunt_checkpoints", second).status == 201)
    }
  }
}
