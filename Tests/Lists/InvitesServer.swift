import Database
import Foundation
import Hummingbird
import ServiceLifecycle
import Support
import Synchronization
import Web
import Wire

/// Stands where the invites service does: makes invites to lists up, and remembers for whom.
final class InvitesServer: Sendable {
  private let asked = Mutex<[InviteToList]>([])
  private let listening = Listening()

  var invites: [InviteToList] { asked.withLock { $0 } }

  var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/internal/invites/lists") { [self] request, context -> Response in
      let invite = try await request.json(InviteToList.self)
      let number = asked.withLock { asked in
        asked.append(invite)
        return asked.count
      }
      let now = Date()
      return .exactJSON(
        ListInvitation(
          number: number, code: "CODE000\(number)", url: "https://kith.example/i/CODE000\(number)", role: invite.role,
          createdAt: now, expiresAt: now + 7 * 86_400))
    }
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
  }
}

/// A stack in which this server stands in the place of invites.
func withInvites(
  _ engine: Engine, _ body: (TestStack, InvitesServer) async throws -> Void
) async throws {
  let invites = InvitesServer()
  try await withStack(engine) { stack in
    try await running([invites.server()]) {
      stack.surroundings.neighbours.moved(.invites, to: try await invites.url)
      try await body(stack, invites)
    }
  }
}

/// Stands where auth does: everybody is there, and nobody has proven anything.
final class UnprovenServer: Sendable {
  private let listening = Listening()

  var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/internal/users/people") { request, _ -> Response in
      let ids = try await request.json(WhoAre.self).ids
      return .exactJSON(
        People(people: ids.enumerated().map { Person(id: $1, number: 7000 + $0, name: "bob", isProven: false) }))
    }
    router.get("/internal/users/person") { _, _ -> Response in
      .exactJSON(Person(id: UserID.new(at: Date()), number: 1, name: "somebody"))
    }
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
  }
}
