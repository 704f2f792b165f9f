import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Requests that, with the background jobs, execute every statement of every service.
struct Calls: Sendable {
  let stack: TestStack
  let twilio: TwilioServer
  let mail: MailServer
  let apple: AppleServer
  let stripe: StripeServer
  let appStore: AppStore
  let appStoreServer: AppStoreServer
  let statements: ExplainedStatements

  func all() async {
    for calls in [
      groupTableCalls, userTableCalls, creditCalls, billingCalls, appStoreCalls, listCalls, groupCalls, inviteCalls,
      authCalls, appleCalls, eventCalls, adventureCalls, timepointCalls,
      groupStoreCalls, inviteStoreCalls, authStoreCalls, eventStoreCalls, eventFeedStoreCalls, timepointStoreCalls,
      erasureCalls,
    ] {
      do { try await calls() } catch { Issue.record(error) }
    }
  }

  /// The database of a service, for statements that no request reaches in a short time.
  func withDatabase(of service: String, _ body: (any Database) async throws -> Void) async throws {
    let database = try await stack.testDatabase.open(service, [])
    do {
      try await body(ExplainedDatabase(inner: database, statements: statements))
      await database.close()
    } catch {
      await database.close()
      throw error
    }
  }

  /// One of the generated accounts.
  func signIn(_ number: Int) async throws -> SignedInUser { try await stack.signIn("u\(number)") }

  /// A service as another service calls it.
  func inside(_ browser: Browser, as name: String) -> Browser { browser.with(stack.with(key: name)) }

  func form(_ path: String, _ fields: String) async throws -> Browser.Reply {
    try await stack.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, path, body: Data(fields.utf8))
  }

  /// The code in the last text to a number, once more than `count` have arrived.
  func code(texted number: String, after count: Int = 0) async throws -> String {
    try await eventually("a text to \(number)") { texts(to: number).count > count }
    return Self.digits(texts(to: number).last ?? "")
  }

  func texts(to number: String) -> [String] { twilio.messages.filter { $0.to == number }.map(\.text) }

  /// The code and the token of the link in the last mail to an address, once more than `count` have arrived.
  func mailed(to address: String, after count: Int = 0) async throws -> (code: String, token: String) {
    try await eventually("a mail to \(address)") { mail.messages.filter { $0.to == [address] }.count > count }
    let text = mail.messages.last { $0.to == [address] }?.part("text/plain") ?? ""
    let link = text.split(whereSeparator: \.isWhitespace).first { $0.contains("token_hash=") } ?? ""
    return (Self.digits(text), String(link).components(separatedBy: "token_hash=").last ?? "")
  }

  private static func digits(_ text: String) -> String {
    text.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? ""
  }
}

/// A body whose fields have values of several types, below a root.
func body(_ root: String, _ fields: [String: any Sendable]) -> [String: any Sendable] { [root: fields] }

extension Browser {
  /// A request that succeeds. Changes have an idempotency key. A failure is recorded, and the calls go on.
  @discardableResult
  func ok(_ method: HTTPMethod, _ path: String, _ body: [String: any Sendable]? = nil) async throws -> Reply {
    let browser = method == .GET ? self : with(["Idempotency-Key": UUID().uuidString])
    let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
    let reply = try await browser.send(method, path, body: data)
    #expect(reply.status < 400, "\(method) \(path): \(reply.status) \(reply.text)")
    return reply
  }

  /// The same with a body that services exchange.
  @discardableResult
  func ok(_ method: HTTPMethod, _ path: String, encoding body: some Encodable) async throws -> Reply {
    let reply = try await send(method, path, body: try JSON.encodeExact(body))
    #expect(reply.status < 400, "\(method) \(path): \(reply.status) \(reply.text)")
    return reply
  }

  /// A request that is refused.
  @discardableResult
  func refused(_ method: HTTPMethod, _ path: String, _ body: [String: any Sendable]? = nil) async throws -> Reply {
    let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
    let reply = try await send(method, path, body: data)
    #expect((400..<500).contains(reply.status), "\(method) \(path): \(reply.status) \(reply.text)")
    return reply
  }
}

extension Browser.Reply {
  func object(_ name: String) -> [String: Any] { self[name] as? [String: Any] ?? [:] }

  /// The id in an object of the reply.
  func id(in name: String) -> Int { (object(name)["id"] as? NSNumber)?.intValue ?? 0 }
}
