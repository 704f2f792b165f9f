import Clients
import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Lists

/// The members of a list.
@Suite struct MembershipTests {
  @Test(arguments: engines) func peopleComeAndGo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let (bob, carol) = (try await stack.signIn("bob"), try await stack.signIn("carol"))
      let id = try await alice.makeList()
      try await alice.share(try await alice.makeList("Known"), with: "carol")
      let path = "/api/v1/lists/\(id)/memberships"
      let made = try await alice.post(path, ["membership": ["user_identifier": "BOB@example.com"]])
      #expect(made.status == 201)
      let membership = made.object("membership")
      #expect(membership.string("role") == "viewer" && membership.object("user").string("email") == "bob@example.com")
      #expect(membership.string("name") == "bob")
      let number = try #require(membership.object("user").int("id"))

      // A user who shares another list with her is also found by UUID; a member by number.
      let third = try await alice.post(
        path, ["membership": ["user_identifier": carol.id.description, "role": "editor"]])
      #expect(third.status == 201)
      let twice = try await alice.post(path, ["membership": ["user_identifier": number]])
      #expect(twice.status == 409 && twice.string("code") == "already_member")
      let index = try await bob.browser.get(path)
      #expect(index.object("owner").string("name") == "alice" && index.object("owner").string("email") == "")
      #expect(index.objects("memberships").map { $0.object("user").string("name") } == ["bob", "carol"])

      let one = "\(path)/\(membership.int("id") ?? 0)"
      #expect(try await bob.browser.patch(one, ["membership": ["role": "editor"]]).status == 403)
      let raised = try await carol.browser.patch(one, ["membership": ["role": "editor"]])
      #expect(raised.status == 200 && raised.object("membership").string("role") == "editor")
      #expect(try await bob.browser.makeTask(id) > 0)
      let mine = try await alice.get("/api/v1/lists").objects("lists").first ?? [:]
      #expect(mine.int("members_count") == 2)
      #expect(mine.objects("members").map { $0.string("role") } == ["editor", "editor"])

      #expect(try await bob.browser.delete(one).status == 204)
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").status == 404)
      #expect(try await alice.delete(one).status == 404)
      #expect(try await alice.delete("\(path)/\(third.object("membership").int("id") ?? 0)").status == 204)
      #expect(try await carol.browser.get("/api/v1/lists").objects("lists").map { $0.string("name") } == ["Known"])
      #expect(try await alice.get("/api/v1/lists/\(id)").object("list").int("members_count") == 0)
    }
  }

  @Test(arguments: engines) func nobodyIsAddedWhoCannotBe(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let viewer = try await stack.signIn("bob").browser
      let id = try await alice.makeList()
      try await alice.share(id, with: "bob", as: "viewer")
      let path = "/api/v1/lists/\(id)/memberships"
      func add(_ who: any Sendable, _ role: String = "viewer", by browser: Browser? = nil) async throws -> Browser.Reply
      {
        try await (browser ?? alice).post(path, ["membership": ["user_identifier": who, "role": role]])
      }
      let unknown = try await add(999_999)
      #expect(unknown.status == 404 && unknown.string("code") == "user_not_found")
      let owner = try await add("alice@example.com")
      #expect(owner.status == 422 && owner.faults == ["user_identifier"])
      #expect(try await add("carol@example.com", "owner").faults == ["role"])
      #expect(try await add("").faults == ["user_identifier"])
      #expect(try await add(true).faults == ["user_identifier"])
      #expect(try await alice.post(path, ["user_identifier": "bob@example.com"]).status == 400)
      // A viewer cannot find out which addresses have an account.
      for who in ["nobody@example.com", "alice@example.com"] {
        #expect(try await add(who, by: viewer).status == 403)
      }
    }
  }

  @Test(arguments: engines) func fiftyWhoAddTheSamePersonAddThemOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      _ = try await stack.signIn("bob")
      let id = try await alice.makeList()
      let statuses = try await atOnce(50) { _ in
        try await alice.post(
          "/api/v1/lists/\(id)/memberships", ["membership": ["user_identifier": "bob@example.com"]]
        ).status
      }
      #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 49))
      #expect(try await alice.get("/api/v1/lists/\(id)").object("list").int("members_count") == 1)
    }
  }

  @Test(arguments: engines) func nobodyAsksAboutEveryNumberThereIs(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let direct = stack.lists.bearing(alice.access)
      let path = "/api/v1/lists/\(try await direct.makeList())/memberships"
      _ = try await stack.signIn("carol")
      let keyed = direct.with(["Idempotency-Key": "carol"])
      let carol = try await keyed.post(path, ["membership": ["user_identifier": "carol@example.com"]])
      #expect(carol.status == 201)
      @Sendable func ask(_ number: Int) async throws -> Int {
        try await direct.post(path, ["membership": ["user_identifier": number]]).status
      }
      for round in 0..<4 {
        let statuses = try await atOnce(48) { index in try await ask(1_000_000 + round * 48 + index) }
        #expect(statuses.allSatisfy { $0 == 404 })
      }
      let statuses = try await atOnce(20) { index in try await ask(2_000_000 + index) }
      #expect(statuses.count { $0 == 404 } == 7 && statuses.count { $0 == 429 } == 13)
      let late = try await direct.post(path, ["membership": ["user_identifier": "bob@example.com"]])
      #expect(late.status == 429 && late.string("code") == "too_many_people")
      let seconds = try #require(late.headers.first(name: "retry-after").flatMap { Int($0) })
      #expect((1...86_400).contains(seconds))
      // A retry with the same key is not run again, and not counted.
      let again = try await keyed.post(path, ["membership": ["user_identifier": "carol@example.com"]])
      #expect(again.text == carol.text && again.headers["idempotency-hit"] == ["true"])
      // The quota is per user, and resets at the end of the day.
      let own = try await bob.browser.makeList()
      try await bob.browser.share(own, with: "alice")
      stack.clock.advance(by: .seconds(seconds))
      let later = stack.lists.bearing(try await stack.signIn("alice").access)
      let made = try await later.post(path, ["membership": ["user_identifier": "bob@example.com"]])
      #expect(made.status == 201)
    }
  }

  @Test(arguments: engines) func anInviteLetsSomebodyInOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let bob = try await stack.signIn("bob")
      let id = try await alice.browser.makeList()
      let lists = ListsClient(in: stack.dependencies(of: "invites"))
      #expect(try await lists.membership(of: alice.id, in: id)?.role == "owner")
      #expect(
        try await lists.membership(of: bob.id, in: id)
          == ListMembership(role: nil, list: .init(id: id, name: "Groceries", color: "blue", visibility: "private")))
      #expect(try await lists.membership(of: bob.id, in: id + 1) == nil)
      let joins = try await atOnce(20) { _ in
        try await lists.join(id, bob.id, by: .init(inviteID: "i1", role: "viewer"))
      }
      #expect(Set(joins).count == 1)
      #expect(joins[0].outcome == .joined && joins[0].role == "viewer")
      let other = try await lists.join(id, bob.id, by: .init(inviteID: "i2", role: "editor"))
      #expect(other.outcome == .alreadyMember && other.role == "viewer")
      #expect(try await lists.join(id, alice.id, by: .init(inviteID: "i1", role: "viewer")).role == "owner")
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").object("list").int("members_count") == 1)

      let path = "/internal/lists/\(id)/members/\(bob.id)"
      #expect(try await stack.lists.with(stack.with(key: "groups")).get(path).status == 403)
      #expect(try await stack.lists.bearing(alice.access).get(path).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "invites")).get(path).status == 404)
      let inside = stack.lists.with(stack.with(key: "invites"))
      #expect(try await inside.put(path, ["invite_id": "i3", "role": "owner"]).status == 422)
      _ = try await alice.browser.delete("/api/v1/lists/\(id)")
      #expect(try await inside.put(path, ["invite_id": "i1", "role": "viewer"]).status == 404)
    }
  }

  @Test(arguments: engines) func aListHasOnlySoManyMembersWhoeverComesTogether(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let id = try await alice.makeList()
      let lists = ListsClient(in: stack.dependencies(of: "invites"))
      let outcomes = try await atOnce(110) { index in
        let user = UserID.new(at: stack.clock.now)
        while true {
          do {
            _ = try await lists.join(id, user, by: .init(inviteID: "i\(index)", role: "viewer"))
            return true
          } catch let failure as Failure where failure.code == "list_full" {
            return false
          } catch let failure as Failure where failure == .unavailable {
            // So many transactions wait for one row that some may time out on a busy machine. A retry is safe.
          }
        }
      }
      #expect(outcomes.count(where: \.self) == 100)
      #expect(try await alice.get("/api/v1/lists/\(id)").object("list").int("members_count") == 100)
    }
  }

  @Test(arguments: engines) func nobodyIsPutOnMoreListsThanOnePersonCanBeIn(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("lists", listsMigrations)
      let (now, bob) = (Date(), UserID.new(at: Date()))
      let outcomes = try await database.write { db in
        try (0...List.joinedMax).map { _ in
          var fields = RequestFields(["name": .string("A list")])
          let list = try ListStore.create(ListChange(&fields).newList(ownedBy: bob, at: now), on: db)
          try db.change("update list set owner_id = \(UserID.new(at: now)) where id = \(list)")
          do { return try MembershipStore.add(bob, to: list, as: .viewer, at: now, on: db) != nil } catch let failure
            as Failure where failure.code == "in_too_many_lists"
          { return false }
        }
      }
      #expect(outcomes.count(where: \.self) == List.joinedMax && outcomes.last == false)
      // Deleted lists do not count; otherwise others could use up the limit permanently.
      let isIn = try await database.write { db in
        try db.change("update list set deleted_at = \(now)")
        var fields = RequestFields(["name": .string("One more")])
        let list = try ListStore.create(ListChange(&fields).newList(ownedBy: .new(at: now), at: now), on: db)
        return try MembershipStore.add(bob, to: list, as: .viewer, at: now, on: db) != nil
      }
      #expect(isIn)
      let seen = try await database.read { db in try db.rows(MembershipStore.queryOfAllLists(of: bob, limit: 10)).count
      }
      #expect(seen == 1)
      await database.close()
    }
  }

  @Test(arguments: engines) func authIsAskedOnceAboutEverybody(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let direct = stack.lists.bearing(alice.access)
      let invites = ListsClient(in: stack.dependencies(of: "invites"))
      var people = 0
      for list in 0..<5 {
        let id = try await direct.makeList("List \(list)")
        for index in 0..<10 {
          _ = try await invites.join(id, .new(at: stack.clock.now), by: .init(inviteID: "i\(index)", role: "editor"))
          people += 1
        }
      }
      // The cache entry of alice has expired by then.
      stack.clock.advance(by: .seconds(61))
      let before = try await peopleRequestCount(stack)
      #expect(try await direct.get("/api/v1/lists").objects("lists").count == 5)
      #expect(try await peopleRequestCount(stack) == before + 1)
      // Until the entries expire, auth is not called again.
      #expect(try await direct.get("/api/v1/lists").status == 200 && people == 50)
      #expect(try await peopleRequestCount(stack) == before + 1)
      stack.clock.advance(by: .seconds(61))
      #expect(try await direct.get("/api/v1/lists").status == 200)
      #expect(try await peopleRequestCount(stack) == before + 2)
    }
  }

  /// The number of calls to auth for people.
  private func peopleRequestCount(_ stack: TestStack) async throws -> Int {
    let metrics = try await stack.auth.get("/metrics").text
    let line = #/kith_http_requests_total\{route="/internal/users/people",method="POST",status="200"\} (\d+)/#
    return metrics.firstMatch(of: line).flatMap { Int($0.output.1) } ?? 0
  }

  @Test func whileAuthIsDownNamesStayAsTheyWere() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.makeList()
      let direct = stack.lists.bearing(alice.access)
      #expect(try await direct.get("/api/v1/lists").status == 200)
      let auth = stack.dependencies.serviceAddresses.urls(of: .auth)
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      stack.clock.advance(by: .seconds(120))
      let reply = try await direct.get("/api/v1/lists")
      #expect(reply.objects("lists").first?.object("owner").string("email") == "alice@example.com")
      stack.dependencies.serviceAddresses.set(.auth, to: auth)
    }
  }
}
