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
      // Each app has its one session still.
      #expect(
        try await stack.count("select count(*) as n from session where ended_at is null", in: "auth") == Self.apps)
    }
  }

  private static var titles: [String] {
    (0..<callsPerApp).filter { $0 % 10 > 2 }.map { "task \($0)" }
  }

  /// One app: 200 calls, of which every tenth begins with a new access token.
  private func run(_ app: Int, in stack: TestStack, at base: String) async throws -> (KithClient, SharedList.ID) {
    let client = try stack.kithClient(at: base, attemptsMax: 100)
    try await untilAnswered {
      try await client.auth.signUp(email: "app\(app)@example.com", password: "correct horse", name: "App")
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

  /// A sign-up is not repeated by itself. Both it and the sign-in that follows may find no network.
  private func untilAnswered(_ body: () async throws -> Void) async throws {
    try await eventually("an answer") {
      do {
        try await body()
        return true
      } catch KithFailure.unreachable { return false } catch let failure as KithFailure
        where failure.code == .known(.emailTaken)
      { return false }
    }
  }
}
