import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Synchronization
import Web
import Wire

/// A proxy in front of auth's internal API that reports some users as not proven.
package final class UnprovenUsersProxy: Sendable {
  private let auth: Browser
  private let unproven = Mutex<Set<UserID>>([])
  private let listening = ListeningPort()

  package init(before auth: Browser) { self.auth = auth }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  package func markUnproven(_ user: UserID) { unproven.withLock { _ = $0.insert(user) } }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/internal/**") { [self] request, _ in try await forwarded(request).response }
    router.post("/internal/**") { [self] request, _ -> Response in
      let reply = try await forwarded(request)
      guard request.uri.path == "/internal/users/people", reply.status == 200 else { return reply.response }
      let people = try JSON.decode(People.self, from: reply.body).people.map(changed)
      return .exactJSON(People(people: people))
    }
    return loopbackServer(router, listening)
  }

  private func forwarded(_ request: Request) async throws -> Browser.Reply {
    let body = try await request.body.collect(upTo: 1024 * 1024)
    let browser = auth.with([Header.serviceKey: request.headers[.serviceKey] ?? ""])
    let data = body.readableBytes > 0 ? Data(buffer: body) : nil
    return try await browser.send(data == nil ? HTTPMethod.GET : .POST, request.uri.string, body: data)
  }

  private func changed(_ person: Person) -> Person {
    guard unproven.withLock({ $0.contains(person.id) }) else { return person }
    return Person(
      id: person.id, number: person.number, name: person.name, email: person.email, phone: person.phone,
      locale: person.locale, timeZone: person.timeZone, isProven: false)
  }
}

extension Browser.Reply {
  fileprivate var response: Response {
    Response(
      status: .init(code: status), headers: [.contentType: headers.first(name: "content-type") ?? "application/json"],
      body: .init(byteBuffer: ByteBuffer(data: body)))
  }
}

/// Runs `body` while the other services see these users as not proven.
package func withUnprovenUsers(
  of users: [SignedInUser], in stack: TestStack, _ body: (UnprovenUsersProxy) async throws -> Void
) async throws {
  let proxy = UnprovenUsersProxy(before: stack.auth)
  for user in users { proxy.markUnproven(user.id) }
  try await running([proxy.server()]) {
    stack.dependencies.serviceAddresses.set(.auth, to: try await proxy.url)
    do { try await body(proxy) } catch {
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      throw error
    }
    stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
  }
}
