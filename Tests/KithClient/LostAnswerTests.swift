import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// An app on a network that loses requests and answers.
@Suite struct LostAnswerTests {
  private static let apps = 5
  private static let callsPerApp = 200

  @Test func overAThousandCallsNobodyIsSignedOutAndNothingIsDoneTwice() async throws {
    try await withStack(engines[0]) { stack in
      let port = try #require(URL(string: stack.gateway.base)?.port)
      try await CuttingProxy.run(before: port, cutsInHundred: 8, seed: 23) { proxy, base in
        let lists = try await atOnce(Self.apps) { app in try await run(app, in: stack, at: base) }
        // The premise: answers were lost.
        #expect(proxy.lostAnswers > 50)
        #expect(proxy.cuts > proxy.lostAnswers)
        for (client, list) in lists {
          #expect(await client.auth.sessions.state != .signedOut(.ended))
          let titles = try await client.tasks.all(in: list).map(\.title).sorted()
          #expect(titles == Self.titles.sorted())
          #expect(try await client.lists.all().map(\.id) == [list])
          #expect(try await client.collections.all(atMost: 100).count == Self.callsPerApp / 10)
        }
      }
      // A lost answer to a sign-in leaves a session that nobody uses. None was ended.
      #expect(try await stack.count("session where ended_at is not null", in: "auth") == 0)
      #expect(try await stack.count("account", in: "auth") == Self.apps)
    }
  }

  private static var titles: [String] {
    (0..<callsPerApp).filter { $0 % 10 > 2 }.map { "task \($0)" }
  }

  /// One app: 200 calls, of which every tenth begins with a new access token.
  private func run(_ app: Int, in stack: TestStack, at base: String) async throws -> (KithClient, SharedList.ID) {
    let client = try stack.kithClient(at: base, attemptsMax: 100)
    let email = "app\(app)@example.com"
    // A sign-up is not repeated by itself more than once. The user taps again, or signs in.
    try await eventually("an account") {
      do { try await client.auth.signUp(email: email, password: "correct horse", name: "App") } catch KithFailure
        .unreachable
      { return false } catch let failure as KithFailure where failure.code == .known(.emailTaken) {
        try await client.auth.signIn(email: email, password: "correct horse")
      }
      return true
    }
    let list = try await client.lists.create(name: "Errands")
    for call in 0..<Self.callsPerApp {
      switch call % 10 {
      case 0:
        await client.auth.sessions.forgetAccess()
        _ = try await client.collections.create(name: "Collection \(call)")
      case 1: _ = try await client.credits.balance()
      case 2: _ = try await client.lists.change(list.id, description: "call \(call)")
      default: _ = try await client.tasks.create(TaskFields(title: "task \(call)"), in: list.id)
      }
    }
    return (client, list.id)
  }
}
