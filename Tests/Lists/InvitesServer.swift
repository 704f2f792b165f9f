import Database
import Foundation
import Hummingbird
import ServiceLifecycle
import Support
import Synchronization
import Web
import Wire

/// A substitute for the invites service that creates invites to lists and records the requests.
final class InvitesServer: Sendable {
  private let requests = Mutex<[InviteToList]>([])
  private let listening = ListeningPort()

  var invites: [InviteToList] { requests.withLock { $0 } }

  var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/internal/invites/lists") { [self] request, context -> Response in
      let invite = try await request.json(InviteToList.self)
      let number = requests.withLock { requests in
        requests.append(invite)
        return requests.count
      }
      let now = Date()
      return .exactJSON(
        ListInvitation(
          number: number, code: "CODE000\(number)", url: "https://kith.example/i/CODE000\(number)", role: invite.role,
          createdAt: now, expiresAt: now + 7 * 86_400))
    }
    return loopbackServer(router, listening)
  }
}

/// Runs a stack in which lists calls this server instead of the invites service.
func withInvites(
  _ engine: Engine, _ body: (TestStack, InvitesServer) async throws -> Void
) async throws {
  let invites = InvitesServer()
  try await withStack(engine) { stack in
    try await running([invites.server()]) {
      stack.dependencies.serviceAddresses.set(.invites, to: try await invites.url)
      try await body(stack, invites)
    }
  }
}
