import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Synchronization
import Web
import Wire

/// Auth as other services ask it, but for some people, of whom it says that they have proven nothing.
package final class DoubtingAuth: Sendable {
  private let auth: Browser
  private let unproven = Mutex<Set<UserID>>([])
  private let listening = Listening()

  package init(before auth: Browser) { self.auth = auth }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  package func doubt(_ user: UserID) { unproven.withLock { _ = $0.insert(user) } }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/internal/**") { [self] request, _ in try await passedOn(request).response }
    router.post("/internal/**") { [self] request, _ -> Response in
      let reply = try await passedOn(request)
      guard request.uri.path == "/internal/users/people", reply.status == 200 else { return reply.response }
      let people = try JSON.decode(People.self, from: reply.body).people.map(doubted)
      return .exactJSON(People(people: people))
    }
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
  }

  private func passedOn(_ request: Request) async throws -> Browser.Reply {
    let body = try await request.body.collect(upTo: 1024 * 1024)
    let browser = auth.with([Header.serviceKey: request.headers[.serviceKey] ?? ""])
    let data = body.readableBytes > 0 ? Data(buffer: body) : nil
    return try await browser.send(data == nil ? HTTPMethod.GET : .POST, request.uri.string, body: data)
  }

  private func doubted(_ person: Person) -> Person {
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

/// While `body` runs, services are told of these users that they have proven nothing.
package func withDoubt(
  of users: [SignedInUser], in stack: TestStack, _ body: (DoubtingAuth) async throws -> Void
) async throws {
  let doubting = DoubtingAuth(before: stack.auth)
  for user in users { doubting.doubt(user.id) }
  try await running([doubting.server()]) {
    stack.surroundings.neighbours.moved(.auth, to: try await doubting.url)
    do { try await body(doubting) } catch {
      stack.surroundings.neighbours.moved(.auth, to: stack.auth.base)
      throw error
    }
    stack.surroundings.neighbours.moved(.auth, to: stack.auth.base)
  }
}
