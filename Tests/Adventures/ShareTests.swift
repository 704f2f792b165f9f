import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

@testable import Adventures

/// The rules of shared arrival times.
@Suite struct ShareTests {
  @Test(arguments: engines) func recipientsExistAndTheEndIsNear(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let now = stack.clock.now
      func share(_ recipients: [String], _ seconds: Double) async throws -> Int {
        let list = recipients.map { "\"\($0)\"" }.joined(separator: ",")
        let end = now.addingTimeInterval(seconds).formatted(.iso8601)
        let body = #"{"route_data": {}, "recipients": [\#(list)], "expires_at": "\#(end)"}"#
        return try await alice.rest(.POST, "eta_shares", body).status
      }
      let stranger = "01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"
      #expect(try await share(["\(bob.id)"], 3600) == 201)
      #expect(try await share(["\(bob.id)"], -1) == 400)
      #expect(try await share(["\(bob.id)"], 8 * 86_400) == 400)
      #expect(try await share([], 3600) == 400)
      #expect(try await share(["bob"], 3600) == 400)
      #expect(try await share([stranger], 3600) == 409)
      #expect(try await share(Array(repeating: "\(bob.id)", count: 51), 3600) == 400)
      #expect(try await alice.rows("eta_shares").count == 1)
      #expect(try await bob.rows("eta_shares").count == 1)
    }
  }

  @Test(arguments: engines) func aShareEndsToTheSecondWhateverItsOwnerSays(_ engine: Engine) async throws {
    try await withEvents(of: engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let path = "eta_shares?id=eq.\(try await share(alice, with: bob, stack))"
      func isActive() async throws -> Bool? { try await alice.rows(path).first?["is_active"] as? Bool }
      let end = try #require(RFC3339.parse(try await alice.rows(path).first?.text("expires_at") ?? ""))

      stack.clock.move(to: end - 60)
      #expect(try await bob.count(path) == 1)
      #expect(try await isActive() == true)
      #expect(try await alice.rest(.PATCH, path, #"{"is_active": true}"#).list.count == 1)
      stack.clock.move(to: end)
      #expect(try await bob.count(path) == 0)
      #expect(try await isActive() == false)
      for _ in 0..<2 {
        let changed = try await alice.rest(.PATCH, path, #"{"is_active": true}"#)
        #expect(changed.status == 200 && changed.list.first?["is_active"] as? Bool == false, "\(changed.text)")
        #expect(try await bob.count(path) == 0)
      }
      // It has ended once, for each of them.
      for user in [alice, bob] {
        let topic = "eta_shares:\(user.id)"
        try await eventually("the end") { receiver.events(on: topic).contains { $0.name == "eta_ended" } }
      }
      #expect(try await alice.rest(.DELETE, path).status == 204)
      try await eventually("the deletion") {
        receiver.events(on: "eta_shares:\(alice.id)").last?.change?.type == .delete
      }
      for user in [alice, bob] {
        let ends = receiver.events(on: "eta_shares:\(user.id)").filter { $0.name == "eta_ended" }
        #expect(ends.count == 1, "\(ends.map(\.name))")
      }
      // A new time makes it active again.
      let next = "eta_shares?id=eq.\(try await share(alice, with: bob, stack))"
      stack.clock.advance(by: .seconds(3600))
      let later = stack.clock.now.addingTimeInterval(60).formatted(.iso8601)
      let prolonged = #"{"expires_at": "\#(later)", "is_active": true}"#
      #expect(try await alice.rest(.PATCH, next, prolonged).list.count == 1)
      #expect(try await bob.count(next) == 1)
    }
  }

  @Test(arguments: engines) func itsOwnerEndsItAndChoosesOthers(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let id = try await share(alice, with: bob, stack)
      let path = "eta_shares?id=eq.\(id)"
      #expect(try await bob.rest(.PATCH, path, #"{"is_active": false}"#).list.isEmpty)
      #expect(try await bob.rest(.DELETE, path).status == 204)
      let changed = try await alice.rest(.PATCH, path, #"{"recipients": ["\#(carol.id)"]}"#)
      #expect(changed.list.count == 1, "\(changed.text)")
      #expect(try await bob.rows(path).isEmpty)
      #expect(try await carol.rows(path).count == 1)
      #expect(try await alice.rest(.PATCH, path, #"{"is_active": false}"#).list.count == 1)
      #expect(try await carol.rows(path).isEmpty)
      #expect(try await alice.rows(path).first?["is_active"] as? Bool == false)
    }
  }

  @Test(arguments: engines) func aShareIsDeletedAMonthAfterItsEnd(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let database = try await stack.testDatabase.open("adventures", [])
      func isKept(_ id: String, _ seconds: Double) async throws -> Bool {
        let now = stack.clock.now.addingTimeInterval(seconds)
        try await EndedShareSweep(database: database, logger: quiet, now: { now }).sweep()
        return try await stack.count("eta_share where id = \(ID<Any>(id))", in: "adventures") == 1
      }
      let ended = try await share(alice, with: bob, stack)
      let active = try await share(alice, with: bob, stack)
      #expect(try await alice.rest(.PATCH, "eta_shares?id=eq.\(ended)", #"{"is_active": false}"#).list.count == 1)
      let month = 30 * 86_400.0
      #expect(try await isKept(ended, 3600 + month - 60))
      #expect(try await !isKept(ended, 3600 + month + 60))
      #expect(try await isKept(active, 3600 + month + 60), "nobody has written down that it is over")
      #expect(try await stack.count("eta_recipient", in: "adventures") == 1)
      await database.close()
    }
  }

  /// Its recipients were told when it ended, and its owner still had the row.
  @Test(arguments: engines) func onlyItsOwnerIsToldThatAnEndedShareIsDeleted(_ engine: Engine) async throws {
    try await withEvents(of: engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (hers, his) = ("eta_shares:\(alice.id)", "eta_shares:\(bob.id)")
      let (hour, month) = (3600, 30 * 86_400)
      func told(_ names: [String]) async throws {
        for topic in [hers, his] {
          try await eventually("\(names)") { receiver.events(on: topic).map(\.name) == names }
        }
      }
      let old = try await share(alice, with: bob, stack)
      stack.clock.advance(by: .seconds(4 * hour))
      try await told(["eta_shared", "eta_ended"])
      let recent = try await share(alice, with: bob, stack)
      stack.clock.advance(by: .seconds(2 * hour))
      let ends = ["eta_shared", "eta_ended", "eta_shared", "eta_ended"]
      try await told(ends)

      // A month after the end of one, and less after that of the other. Another process deletes when it starts.
      stack.clock.advance(by: .seconds(month - 3 * hour))
      try await stack.withAdventures(wrapDatabase: { $0 }) { _ in
        try await eventually("the deletion") { receiver.events(on: hers).count > ends.count }
      }
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "adventures") == 0 }
      #expect(receiver.events(on: hers).map(\.name) == ends + ["eta_changed"])
      let deleted = try #require(receiver.events(on: hers).last)
      #expect(deleted.topics == [hers])
      #expect(deleted.payload == .object(["share_id": .string(old), "user_id": .string("\(alice.id)")]))
      #expect(
        deleted.change
          == RowChange(table: "eta_shares", type: .delete, record: nil, oldRecord: .object(["id": .string(old)])))
      #expect(receiver.events(on: his).map(\.name) == ends)
      #expect(try await stack.count("eta_share", in: "adventures") == 1)
      #expect(try await stack.count("eta_share where id = \(ID<Any>(recent))", in: "adventures") == 1)
    }
  }

  @Test(arguments: engines) func aBlockHidesAShare(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      #expect(try await bob.browser.post("/users/\(alice.id)/block").status < 300)
      let id = try await share(alice, with: bob, stack)
      #expect(try await bob.rows("eta_shares?id=eq.\(id)").isEmpty)
      #expect(try await alice.rows("eta_shares?id=eq.\(id)").count == 1)
    }
  }

  private func share(_ owner: SignedInUser, with other: SignedInUser, _ stack: TestStack) async throws -> String {
    let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
    let body = #"{"route_data": {}, "recipients": ["\#(other.id)"], "expires_at": "\#(end)"}"#
    return try await owner.insert("eta_shares", body).text("id")
  }
}
