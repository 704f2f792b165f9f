import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

extension TestStack {
  /// Inserts a phone identity of the user into auth's database, as if the user had signed in with this number.
  func addPhoneNumber(_ number: String, to user: SignedInUser) async throws {
    let (database, now) = (try await testDatabase.open("auth", []), clock.now)
    try await database.write { db in
      try db.change(
        """
        insert into identity (issuer, subject, account_id, is_email_verified, is_private_email, created_at)
        values ('phone', \(number), \(user.id), \(false), \(false), \(now))
        """)
    }
    await database.close()
  }

  /// Inserts a photo of the group's day that the user has just sent.
  func insertPhoto(of user: SignedInUser, in group: GroupID) async throws {
    let (database, now) = (try await testDatabase.open("groups", []), clock.now)
    try await database.write { db in
      let zone = try db.row("select time_zone from social_group where id = \(group)")?.get("time_zone", as: String.self)
      let day = Date.ISO8601FormatStyle(timeZone: try #require(zone.flatMap(TimeZone.init(identifier:))))
        .year().month().day().format(now)
      try db.change(
        """
        insert into photo (id, group_id, sender_id, day, state, created_at, expires_at)
        values (\(GroupID.new(at: now)), \(group), \(user.id), \(day), 'ready', \(now), \(now + 172_800))
        """)
    }
    await database.close()
  }
}

extension SignedInUser {
  /// Creates a group in a time zone where it is ten in the morning, so that no test runs across the group's midnight.
  func group(_ name: String) async throws -> GroupID {
    let hour = Int(Date().timeIntervalSince1970) / 3600 % 24
    let ahead = hour > 22 ? 34 - hour : 10 - hour
    // In the names `Etc/GMT+n`, positive numbers are west of Greenwich.
    let zone = ahead == 0 ? "Etc/GMT" : "Etc/GMT\(ahead > 0 ? "-" : "+")\(abs(ahead))"
    let made = try await browser.post("/api/groups", ["name": name, "time_zone": zone])
    guard let id = GroupID(made.string("id")) else { throw Unexpected(reply: made.text) }
    return id
  }

  /// Creates a collection, and returns its id with the prefix that apps see.
  func collection(_ name: String) async throws -> String {
    let made = try await browser.post("/collections", ["name": name])
    guard let id = (made["data"] as? [String: Any])?["id"] as? String else { throw Unexpected(reply: made.text) }
    return id
  }
}

extension Browser {
  func put(_ path: String, _ body: [String: any Sendable]) async throws -> Reply {
    try await send(.PUT, path, body: try JSONSerialization.data(withJSONObject: body))
  }

  func patch(_ path: String, _ body: [String: any Sendable]) async throws -> Reply {
    try await send(.PATCH, path, body: try JSONSerialization.data(withJSONObject: body))
  }
}

extension Browser.Reply {
  var data: [[String: Any]] { self["data"] as? [[String: Any]] ?? [] }
}
