import Database
import Foundation
import Support
import Testing
import Tokens
import Wire

@testable import Groups

/// Signed links, and the responses to downloads.
@Suite struct PhotoLinkTests {
  /// Runs a stack with one photo; passes the paths of its links.
  private func withPhoto(
    _ engine: Engine = .sqlite,
    _ body: (TestStack, _ alice: SignedInUser, GroupID, _ large: String, _ small: String) async throws -> Void
  ) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
      let photo = try #require(try await alice.today(group).first)
      try await body(stack, alice, group, stack.path(photo["url"]), stack.path(photo["thumbnail_url"]))
    }
  }

  @Test func bytesAreServedWithWhatCachesNeed() async throws {
    try await withPhoto { stack, _, _, large, small in
      let whole = try await stack.gateway.get(large)
      #expect(whole.status == 200 && whole.body.starts(with: [0xFF, 0xD8, 0xFF]))
      #expect(whole.headers.first(name: "content-type") == "image/jpeg")
      #expect(whole.headers.first(name: "accept-ranges") == "bytes")
      #expect(whole.headers.first(name: "x-content-type-options") == "nosniff")
      #expect(whole.headers.first(name: "cache-control")?.hasPrefix("private, max-age=") == true)
      let tag = try #require(whole.headers.first(name: "etag"))
      #expect(try await stack.gateway.get(small).headers.first(name: "etag") != tag)

      for names in [tag, "W/\(tag)", "\"another\", \(tag)", "*"] {
        let same = try await stack.gateway.with(["If-None-Match": names]).get(large)
        #expect(same.status == 304 && same.body.isEmpty)
      }
      #expect(try await stack.gateway.with(["If-None-Match": "\"another\""]).get(large).status == 200)

      let head = try await stack.gateway.send(.HEAD, large)
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(head.headers.first(name: "content-length") == String(whole.body.count))
    }
  }

  /// In memory are the file and who may see it, for a moment after they were read.
  @Test(arguments: engines) func aPhotoInMemoryIsServedLikeOneThatIsRead(engine: Engine) async throws {
    try await withPhoto(engine) { stack, _, _, large, _ in
      _ = try await stack.groups.get(large)
      let inMemory = try await stack.groups.get(large)
      // Left to the route: what the client has already is not looked up in memory alone.
      let read = try await stack.groups.with(["If-None-Match": "\"another\""]).get(large)
      #expect(inMemory.status == 200 && inMemory.body == read.body && inMemory.body.count > 100)
      func fields(_ reply: Browser.Reply) -> Set<String> {
        Set(
          reply.headers.filter { !["date", "x-request-id", "cache-control"].contains($0.name) }
            .map { "\($0.name): \($0.value)" })
      }
      #expect(fields(inMemory) == fields(read) && fields(read).count == 6, "\(fields(read))")
      #expect(inMemory.headers["cache-control"].count == 1)
      // The last is the signature.
      let forged = large.dropLast(2) + (large.hasSuffix("AA") ? "BA" : "AA")
      for path in [String(forged), large + "&more=1", large.replacingOccurrences(of: "1080", with: "320")] {
        let plain = try await stack.groups.get(path)
        let left = try await stack.groups.with(["If-None-Match": "\"another\""]).get(path)
        #expect(plain.status == left.status && plain.string("code") == left.string("code"), "\(path): \(plain.text)")
      }
      #expect(try await stack.groups.get(String(forged)).status == 403)
    }
  }

  @Test func partsAreServed() async throws {
    try await withPhoto { stack, _, _, large, _ in
      let whole = try await stack.gateway.get(large)
      let count = whole.body.count
      for (range, expected) in [
        ("bytes=0-99", 0..<100), ("bytes=100-", 100..<count), ("bytes=-10", count - 10..<count),
        ("bytes=\(count - 1)-999999", count - 1..<count), ("bytes=-999999", 0..<count),
      ] {
        let part = try await stack.gateway.with(["Range": range]).get(large)
        #expect(part.status == 206 && part.body == whole.body[expected], "\(range)")
        let words = "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(count)"
        #expect(part.headers.first(name: "content-range") == words)
      }
      for range in ["bytes=\(count)-", "bytes=999999-9999999", "bytes=-0"] {
        let none = try await stack.gateway.with(["Range": range]).get(large)
        #expect(none.status == 416 && none.string("code") == "range_not_satisfiable")
        #expect(none.headers.first(name: "content-range") == "bytes */\(count)")
      }
      for range in ["bytes=9-1", "lines=1-2", "bytes=0-1,3-4", "bytes=a-b", "bytes=-", "bytes=99999999999999999999-"] {
        #expect(try await stack.gateway.with(["Range": range]).get(large).body == whole.body, "\(range)")
      }
      let tag = whole.headers.first(name: "etag") ?? ""
      #expect(try await stack.gateway.with(["Range": "bytes=0-9", "If-Range": tag]).get(large).status == 206)
      #expect(try await stack.gateway.with(["Range": "bytes=0-9", "If-Range": "\"old\""]).get(large).status == 200)
    }
  }

  @Test func aLinkThatWasChangedIsWorthNothing() async throws {
    try await withPhoto { stack, alice, _, large, small in
      #expect(try await stack.gateway.get(large).status == 200)
      let other = PhotoID.new(at: Date()).description
      let changed = [
        large.replacing(/size=1080/, with: "size=320"), large.replacing(/size=1080/, with: "size=4000"),
        large.replacing(/expires=\d+/, with: "expires=99999999999"), large.replacing(/expires=\d+/, with: "expires="),
        large.replacing(/photos\/[^\/]+/, with: "photos/\(other)"),
        large.replacing(/viewer=[^&]+/, with: "viewer=\(other)"),
        large.replacing(/&signature=.*/, with: ""), String(large.dropLast()), large + "A",
        large.replacing(/signature=.*/, with: "signature=" + (small.split(separator: "=").last ?? "")),
      ]
      for path in changed {
        let refusal = try await stack.gateway.get(path)
        #expect(refusal.status == 403 && refusal.string("code") == "invalid_link", "\(path)")
      }
      // A download link does not allow an upload, and a member's access token does not replace a valid link.
      #expect(try await stack.gateway.send(.PUT, large, body: SamplePhotos.jpeg).status == 403)
      #expect(try await alice.browser.get(changed[0]).status == 403)
    }
  }

  @Test func aLinkLivesAnHourAtMost() async throws {
    try await withPhoto { stack, _, group, large, _ in
      let expires = try #require(large.firstMatch(of: /expires=(\d+)/).flatMap { Double($0.1) })
      let life = Date(timeIntervalSince1970: expires).timeIntervalSince(stack.clock.now)
      #expect((44 * 60...3600).contains(life))
      stack.clock.advance(by: .seconds(Int(life) - 30))
      #expect(try await stack.gateway.get(large).status == 200)
      stack.clock.advance(by: .seconds(31))
      let late = try await stack.gateway.get(large)
      #expect(late.status == 410 && late.string("code") == "link_expired")
      let alice = try await stack.signIn("alice")
      let fresh = stack.path(try #require(try await alice.today(group).first)["url"])
      #expect(fresh != large)
      #expect(try await stack.gateway.get(fresh).status == 200)
    }
  }

  @Test func noLinkOutlivesThePhoto() throws {
    let keys = try #require(DataKeys(["a key"]))
    let links = PhotoLinks(keys: keys, base: "https://kith.example")
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let alice = UserID.new(at: now)
    let photo = Photo(id: .new(at: now), group: .new(at: now), sender: alice, sentAt: now)
    for left in [10.0, 60, 3000] {
      let link = links.view(photo, .large, by: alice, at: photo.expiresAt - left)
      #expect(link.contains("expires=\(Int(photo.expiresAt.timeIntervalSince1970))&"), "\(link)")
    }
  }

  /// A full day of five groups of twelve is 120 files, and many phones may be behind one address.
  @Test func manyPhotosCanBeFetchedAtOnce() async throws {
    try await withStack(.sqlite, ["RATE_LIMIT": "20", "RATE_LIMIT_PHOTO": "130"]) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
      let photo = try #require(try await alice.today(group).first)
      let paths = [stack.path(photo["url"]), stack.path(photo["thumbnail_url"])]
      // Ten concurrent requests, as phones send them.
      var fetched: [Browser.Reply] = []
      for _ in 0..<12 { fetched += try await atOnce(10) { try await stack.gateway.get(paths[$0 % 2]) } }
      #expect(fetched.allSatisfy { $0.status == 200 && $0.headers["ratelimit-policy"] == ["\"photo\";q=130;w=60"] })
      // There is still a limit, and other requests do not get the larger quota.
      try await eventually("the end of it") {
        try await atOnce(10) { try await stack.gateway.get(paths[$0 % 2]).status }.contains(429)
      }
      let sent = try await stack.gateway.send(.PUT, paths[0], body: SamplePhotos.jpeg)
      #expect(sent.status == 403 && sent.headers["ratelimit-policy"] == ["\"upload\";q=20;w=60"])
    }
  }

  @Test(arguments: engines) func whoLeavesOrIsBlockedSeesNoMore(engine: Engine) async throws {
    try await withPhoto(engine) { stack, alice, group, large, _ in
      let (bob, carol) = (try await stack.signIn("bob"), try await stack.signIn("carol"))
      for user in [bob, carol] { try await stack.addMember(user, in: group, by: alice) }
      let id = try #require(try await bob.today(group).first?["id"] as? String)
      let (bobs, carols) = (
        stack.path(try await bob.today(group).first?["url"]), stack.path(try await carol.today(group).first?["url"])
      )
      for path in [large, bobs, carols] { #expect(try await stack.gateway.get(path).status == 200) }

      #expect(try await bob.browser.post("/users/\(alice.id)/block").status == 200)
      #expect(try await bob.send(SamplePhotos.turnedJPEG, to: group).status == 200)
      for user in [alice, bob] {
        let senders = try await user.today(group).map { $0["sender_id"] as? String }
        #expect(senders == [user.id.description])
      }
      #expect(try await carol.today(group).count == 2)
      #expect(try await stack.gateway.get(bobs).status == 404)
      #expect(try await bob.browser.get("/api/photos/\(id)").status == 404)

      #expect(try await carol.browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await stack.gateway.get(carols).status == 404)
      #expect(try await carol.browser.get("/api/photos/\(id)").status == 404)
      #expect(try await bob.browser.delete("/users/\(alice.id)/block").status == 200)
      for path in [large, bobs] { #expect(try await stack.gateway.get(path).status == 200) }
    }
  }
}
