import Clients
import Database
import Foundation
import ServiceLifecycle
import Support
import Testing
import Web
import Wire

@testable import Groups

/// Which decisions about access to photos are cached, and for how long.
@Suite struct PhotoAccessCacheTests {
  private func photo(by sender: UserID, at now: Date) -> Photo {
    Photo(id: .new(at: now), group: .new(at: now), sender: sender, sentAt: now)
  }

  @Test func whatIsRememberedIsOfOneViewerAndOnePhoto() throws {
    let (now, photoAccess) = (Date(), PhotoAccessCache(lifetime: .seconds(60)))
    let (alice, bob) = (UserID.new(at: now), UserID.new(at: now))
    let (one, other) = (photo(by: alice, at: now), photo(by: alice, at: now))
    photoAccess.insert([one], for: alice, since: photoAccess.queryStart())
    #expect(try photoAccess.photo(one.id, for: alice, at: now) == one)
    #expect(try photoAccess.photo(one.id, for: bob, at: now) == nil)
    #expect(try photoAccess.photo(other.id, for: alice, at: now) == nil)
    #expect(try photoAccess.photo(one.id, for: alice, at: one.expiresAt - 0.001) == one)
    #expect(throws: Failure.photoGone) { try photoAccess.photo(one.id, for: alice, at: one.expiresAt) }
  }

  @Test func itIsForgottenAfterAWhileAndWhenSomethingEnds() async throws {
    let (now, alice) = (Date(), UserID.new(at: Date()))
    let photo = photo(by: alice, at: now)
    let short = PhotoAccessCache(lifetime: .milliseconds(30))
    let start = short.queryStart()
    try await Task.sleep(for: .milliseconds(40))
    // The lifetime begins before the query.
    short.insert([photo], for: alice, since: start)
    #expect(try short.photo(photo.id, for: alice, at: now) == nil)

    let photoAccess = PhotoAccessCache(lifetime: .seconds(60))
    let before = photoAccess.queryStart()
    photoAccess.insert([photo], for: alice, since: before)
    photoAccess.invalidate()
    #expect(try photoAccess.photo(photo.id, for: alice, at: now) == nil)
    // A query that began before the invalidation is not cached.
    photoAccess.insert([photo], for: alice, since: before)
    #expect(try photoAccess.photo(photo.id, for: alice, at: now) == nil)
    photoAccess.insert([photo], for: alice, since: photoAccess.queryStart())
    #expect(try photoAccess.photo(photo.id, for: alice, at: now) == photo)
  }

  @Test func thereAreNeverTooMany() throws {
    let (now, alice, photoAccess) = (Date(), UserID.new(at: Date()), PhotoAccessCache(lifetime: .seconds(60)))
    let photos = (0..<30_000).map { _ in photo(by: alice, at: now) }
    for photo in photos { photoAccess.insert([photo], for: alice, since: photoAccess.queryStart()) }
    let cached = try photos.filter { try photoAccess.photo($0.id, for: alice, at: now) != nil }
    #expect(cached.count <= 20_000 && cached.contains { $0.id == photos.last?.id })
  }

  /// Once the change has been answered, no download succeeds, however many run concurrently.
  @Test(arguments: engines, ["block", "remove", "leave", "delete", "close", "erase"])
  func whatEndsItEndsItAtOnce(engine: Engine, way: String) async throws {
    try await withStack(engine, ["RATE_LIMIT_PHOTO": "1000000"]) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      try await stack.addMember(bob, in: group, by: alice)
      let id = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      let path = stack.path(try #require(try await bob.today(group).first)["url"])
      #expect(try await stack.groups.get(path).status == 200)
      let (seen, ended) = (Flag(), Flag())
      let downloads = Task {
        try await atOnce(8) { _ in
          var late = 0
          repeat {
            let isOver = ended.isRaised
            guard try await stack.groups.get(path).status == 200 else { continue }
            seen.raise()
            if isOver { late += 1 }
          } while !ended.isRaised
          // Once more, after the change has been answered.
          if try await stack.groups.get(path).status == 200 { late += 1 }
          return late
        }
      }
      try await eventually("a look") { seen.isRaised }
      let status =
        switch way {
        case "block": try await alice.browser.post("/users/\(bob.id)/block").status
        case "remove": try await alice.browser.delete("/api/groups/\(group)/members/\(bob.id)").status
        case "leave": try await bob.browser.delete("/api/groups/\(group)").status
        case "delete": try await alice.browser.delete("/api/photos/\(id)").status
        case "close":
          try await closed(group, by: alice, stack)
        default: try await erase(alice, stack)
        }
      ended.raise()
      #expect([200, 204].contains(status), "\(way): \(status)")
      #expect(try await downloads.value.reduce(0, +) == 0)
    }
  }

  private func closed(_ group: GroupID, by owner: SignedInUser, _ stack: TestStack) async throws -> Int {
    try await owner.browser.post("/api/groups/\(group)/close").status
  }

  private func erase(_ user: SignedInUser, _ stack: TestStack) async throws -> Int {
    try await stack.groups.with(["X-Service-Key": TestStack.keys["auth"] ?? ""])
      .delete("/internal/users/\(user.id)/data").status
  }

  /// A second process is not notified of the change; its cache expires after a second.
  @Test(.enabled(if: postgresURL != nil)) func anotherProcessSeesItASecondLater() async throws {
    try await withStack(.postgres) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      try await stack.addMember(bob, in: group, by: alice)
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
      let path = stack.path(try #require(try await bob.today(group).first)["url"])
      let other = try await buildGroups(stack.dependencies(of: "groups"))
      try await running([other]) {
        let replica = Browser("http://127.0.0.1:\(try await other.port.number)")
        try await eventually("the second process") { try await replica.get(path).status == 200 }
        #expect(try await alice.browser.post("/users/\(bob.id)/block").status == 200)
        let blocked = ContinuousClock.now
        try await eventually("the end in the second process") {
          let began = ContinuousClock.now
          let status = try await replica.get(path).status
          #expect(status == 404 || began - blocked < .milliseconds(1500))
          return status == 404
        }
      }
    }
  }
}
