import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Events of a topic, over connections that are lost.
@Suite(.timeLimit(.minutes(10))) struct LiveEventTests {
  @Test(arguments: engines) func everyEventComesOnceAndInOrder(engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient("alice")
      let list = try await alice.lists.create(name: "Groceries")
      let topic = "lists:\(list.id)"
      var (names, numbers): ([String], [Int]) = ([], [])
      var position = EventPosition()
      // Each round is a subscription that goes on where the last one stopped; what happens between them is not missed.
      for round in 0..<3 {
        if round > 0 { _ = try await alice.tasks.create(TaskFields(title: "between \(round)"), in: list.id) }
        var expected = round > 0 ? 1 : 0
        for try await (update, next) in alice.events.updates(of: [topic], from: position) {
          position = next
          switch update {
          case .connected:
            _ = try await alice.tasks.create(TaskFields(title: "round \(round)"), in: list.id)
            expected += 1
          case .event(let event):
            names.append(event.name)
            numbers.append(event.number)
            #expect(event.topic == topic && event.payload["list_id"] == .int(list.id))
            expected -= 1
          default: throw Unexpected(reply: "\(update)")
          }
          if expected == 0, !numbers.isEmpty { break }
        }
      }
      #expect(names == Array(repeating: "task_created", count: 5))
      let first = try #require(numbers.first)
      #expect(numbers == Array(first..<first + 5))
    }
  }

  @Test(arguments: engines) func aLostConnectionIsMadeAgainAndNothingIsMissed(engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let port = try #require(URL(string: stack.gateway.base)?.port)
      let alice = try await stack.signedUpClient("alice")
      let list = try await alice.lists.create(name: "Groceries")
      try await CuttingProxy.run(before: port, cutsInHundred: 25, seed: 7) { proxy, base in
        let phone = try stack.kithClient(at: base, attemptsMax: 100)
        try await eventually("a sign-in") {
          do { try await phone.auth.signIn(email: "alice@example.com", password: "correct horse") } catch KithFailure
            .unreachable
          { return false }
          return true
        }
        var (numbers, made): ([Int], Int) = ([], 0)
        for try await (update, _) in phone.events.updates(of: ["lists:\(list.id)"]) {
          if case .event(let event) = update { numbers.append(event.number) }
          if case .disconnected = update { continue }
          guard made < 40 else {
            if numbers.count >= made { break }
            continue
          }
          _ = try await alice.tasks.create(TaskFields(title: "\(made)"), in: list.id)
          made += 1
        }
        #expect(proxy.cuts > 0)
        #expect(numbers == Array((numbers.first ?? 0)..<(numbers.first ?? 0) + numbers.count))
      }
    }
  }

  @Test(arguments: engines) func aStrangerIsRefusedAndARemovedMemberIsTold(engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob")
      let list = try await alice.lists.create(name: "Groceries")
      let topic = "lists:\(list.id)"
      await #expect(throws: KithFailure.self) {
        for try await _ in bob.events.updates(of: [topic]) {}
      }
      let link = try await alice.invites.createLink(to: list.id, role: .editor)
      _ = try await bob.invites.acceptList(code: link.code)
      let memberships = try await alice.lists.memberships(of: list.id)
      let membership = try #require(memberships.first { $0.role == "editor" })
      var last: LiveUpdate?
      for try await (update, _) in bob.events.updates(of: [topic]) {
        if last == nil { try await alice.lists.remove(membership.id, from: list.id) }
        last = update
      }
      guard case .ended = last else { throw Unexpected(reply: "\(last as Any)") }
    }
  }
}
