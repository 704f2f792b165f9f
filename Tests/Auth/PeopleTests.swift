import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// What other services receive about users, and by which identifiers they find them.
@Suite struct PeopleTests {
  @Test(arguments: engines) func peopleAreFoundAllAtOnceAndByEveryName(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let users = UsersClient(in: stack.dependencies(of: "lists"))
      let people = try await users.people([alice.id, bob.id, .new(at: Date())])
      #expect(people.count == 2)
      let person = try #require(people[alice.id])
      #expect(person.name == "alice" && person.email == "alice@example.com")
      #expect(Set(people.values.map(\.number)) == [1, 2])
      #expect(person.isProven)
      for name in [alice.id.description, String(person.number), "ALICE@example.com"] {
        #expect(try await users.person(named: name)?.id == alice.id, "\(name)")
      }
      for stranger in [UserID.new(at: Date()).description, "99", "eve@example.com", "+4712345678", "nobody", "%00"] {
        #expect(try await users.person(named: stranger) == nil, "\(stranger)")
      }
      _ = try await alice.browser.send(.DELETE, "/api/v1/auth/account")
      #expect(try await users.people([alice.id]).isEmpty)
      #expect(try await users.person(named: "alice@example.com") == nil)
      #expect(try await stack.auth.post("/internal/users/people", ["ids": [String]()]).status == 403)
    }
  }

  @Test func moreThanOneCallCanTakeAreAskedInSeveral() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let users = UsersClient(in: stack.dependencies(of: "groups"))
      let strangers = (0..<1200).map { _ in UserID.new(at: Date()) }
      #expect(try await users.people(Set(strangers + [alice.id])).keys.map { $0 } == [alice.id])
    }
  }

  @Test(arguments: engines) func fiftyNewAccountsHaveFiftyNumbers(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let ids = try await atOnce(50) { try await stack.signIn("guest\($0)").id }
      let people = try await UsersClient(in: stack.dependencies(of: "lists")).people(Set(ids))
      #expect(Set(people.values.map(\.number)).count == 50)
    }
  }
}
