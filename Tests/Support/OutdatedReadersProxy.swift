import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Synchronization
import Web
import Wire

/// A proxy in front of groups whose first answer about the readers of a topic is one of before somebody has joined, or
/// left.
package final class OutdatedReadersProxy: Sendable {
  private let groups: Browser
  private let changed: UserID
  private let hasJoined: Bool
  private let count = Mutex(0)
  private let listening = ListeningPort()

  package init(before groups: Browser, without newcomer: UserID) {
    self.groups = groups
    changed = newcomer
    hasJoined = true
  }

  package init(before groups: Browser, with leaver: UserID) {
    self.groups = groups
    changed = leaver
    hasJoined = false
  }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  /// How often readers were asked for.
  package var questions: Int { count.withLock { $0 } }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    for method in [HTTPRequest.Method.get, .post, .put, .delete] {
      router.on("**", method: method) { [self] request, _ in try await respond(to: request) }
    }
    return loopbackServer(router, listening)
  }

  private func respond(to request: Request) async throws -> Response {
    let body = try await request.body.collect(upTo: 1024 * 1024)
    let browser = groups.with([Header.serviceKey: request.headers[.serviceKey] ?? ""])
    let reply = try await browser.send(
      HTTPMethod(rawValue: request.method.rawValue), request.uri.string,
      body: body.readableBytes > 0 ? Data(buffer: body) : nil)
    guard request.uri.path == "/internal/topics/readers", reply.status == 200, isFirst() else {
      return Response(
        status: .init(code: reply.status), headers: [.contentType: "application/json"],
        body: .init(byteBuffer: ByteBuffer(data: reply.body)))
    }
    let users = try JSON.decode(TopicReaders.self, from: reply.body).users
    return .exactJSON(TopicReaders(users: users.filter { $0 != changed } + (hasJoined ? [] : [changed])))
  }

  private func isFirst() -> Bool {
    count.withLock { count in
      count += 1
      return count == 1
    }
  }
}
