import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import Tokens
import Web

/// A fake of the App Store Server API on loopback, for both environments: pages the history of notifications and of
/// transactions, knows the states of subscriptions, takes answers about consumption, and verifies the bearer token.
package final class AppStoreServer: Sendable {
  package static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
  package static let keyID = "2X9R4HXF34"

  /// How it responds to the next requests.
  package enum Behavior: Sendable {
    case normal
    /// Too many requests; may be repeated at a time.
    case limiting(until: Date)
    case answering(Int, String)
  }

  /// A call with a valid bearer token.
  package struct Call: Sendable {
    package let method: String
    package let path: String
    package let query: String
    package let body: Data
    /// The bundle id in the bearer token.
    package let bundleID: String
  }

  /// The state of a subscription.
  package struct Status: Sendable {
    let original: String
    let number: Int
    let transaction: String
    let renewal: String

    package init(original: String, number: Int, signedTransaction: String, signedRenewal: String) {
      (self.original, self.number, transaction, renewal) = (original, number, signedTransaction, signedRenewal)
    }
  }

  private struct Claims: Decodable {
    let iss: String
    let iat: Int
    let exp: Int
    let aud: String
    let bid: String
  }

  private struct State {
    var behavior = Behavior.normal
    var calls: [Call] = []
    var requestCount = 0
    var notifications: [(signedAt: Date, payload: String)] = []
    var transactions: [String: [String]] = [:]
    var statuses: [String: [Status]] = [:]
  }

  private static let pageSize = 3
  private let key = P256.Signing.PrivateKey()
  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var settings: [String: String] {
    let url = address.withLock { $0 }
    return [
      "APPLE_SERVER_API_URL": url, "APPLE_SERVER_API_SANDBOX_URL": url + Self.sandbox,
      "APPLE_IAP_ISSUER_ID": Self.issuer, "APPLE_IAP_KEY_ID": Self.keyID,
      "APPLE_IAP_PRIVATE_KEY": key.pemRepresentation,
    ]
  }

  package var behavior: Behavior {
    get { state.withLock { $0.behavior } }
    set { state.withLock { $0.behavior = newValue } }
  }

  package var requestCount: Int { state.withLock { $0.requestCount } }

  /// The calls with a valid token to paths that have a prefix.
  package func calls(to prefix: String) -> [Call] { state.withLock { $0.calls.filter { $0.path.hasPrefix(prefix) } } }

  /// A notification that it could not deliver.
  package func remember(_ payload: String, signedAt time: Date) {
    state.withLock { $0.notifications.append((time, payload)) }
  }

  /// What the customer of a transaction has bought, and the states of the subscriptions.
  ///
  /// - Parameter isSandbox: nothing of it is known in production.
  package func remember(
    customerOf transaction: String, isSandbox: Bool = false, transactions: [String], statuses: [Status] = []
  ) {
    state.withLock { state in
      state.transactions[(isSandbox ? Self.sandbox : "") + transaction] = transactions
      state.statuses[(isSandbox ? Self.sandbox : "") + transaction] = statuses
    }
  }

  private static let sandbox = "/sandbox"

  private func respond(_ request: Request) async throws -> Response {
    let body = Data(buffer: try await request.body.collect(upTo: 64 * 1024))
    let behavior = state.withLock { state in
      state.requestCount += 1
      return state.behavior
    }
    switch behavior {
    case .normal: break
    case .limiting(let until):
      return Self.response(
        429, #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#,
        ["retry-after": String(Int(until.timeIntervalSince1970 * 1000))])
    case .answering(let status, let text): return Self.response(status, text)
    }
    // As Apple: without a valid token 401 and an empty body.
    guard let claims = claims(request) else { return Response(status: .unauthorized) }
    let call = Call(
      method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "", body: body,
      bundleID: claims.bid)
    state.withLock { $0.calls.append(call) }
    return try answer(call)
  }

  private func claims(_ request: Request) -> Claims? {
    let now = Int(Date().timeIntervalSince1970)
    guard let header = request.headers[.authorization], header.hasPrefix("Bearer "),
      // `try?`: nil is the answer.
      let token = try? SignedToken(String(header.dropFirst(7))), token.keyID == Self.keyID,
      let claims = try? token.claims(Claims.self, signedBy: .es256(key.publicKey)), claims.iss == Self.issuer,
      claims.aud == "appstoreconnect-v1", claims.exp - claims.iat <= 3600, claims.exp > now - 86_400 * 400
    else { return nil }
    return claims
  }

  private func answer(_ call: Call) throws -> Response {
    let last = String(call.path.split(separator: "/").last ?? "")
    let isSandbox = call.path.hasPrefix(Self.sandbox)
    let customer = (isSandbox ? Self.sandbox : "") + last
    switch isSandbox ? String(call.path.dropFirst(Self.sandbox.count)) : call.path {
    case "/inApps/v1/notifications/history":
      // All of them are of production.
      return isSandbox
        ? try Self.json(["notificationHistory": [String](), "hasMore": false]) : try notificationPage(call)
    case "/inApps/v2/transactions/consumption/\(last)": return Response(status: .accepted)
    case "/inApps/v2/history/\(last)":
      guard let all = state.withLock({ $0.transactions[customer] }) else { return Self.unknown }
      let (start, page, hasMore) = Self.page(of: all, call.query, "revision=")
      return try Self.json(["revision": "\(start + page.count)", "hasMore": hasMore, "signedTransactions": page])
    case "/inApps/v1/subscriptions/\(last)":
      guard let all = state.withLock({ $0.statuses[customer] }) else { return Self.unknown }
      let transactions = all.map { status -> [String: any Sendable] in
        [
          "originalTransactionId": status.original, "status": status.number,
          "signedTransactionInfo": status.transaction, "signedRenewalInfo": status.renewal,
        ]
      }
      return try Self.json(["data": [["lastTransactions": transactions] as [String: any Sendable]]])
    default: return Response(status: .notFound)
    }
  }

  private func notificationPage(_ call: Call) throws -> Response {
    struct Range: Decodable {
      let startDate: Double
      let endDate: Double
    }
    let range = try JSONDecoder().decode(Range.self, from: call.body)
    let all = state.withLock { $0.notifications }.filter {
      (range.startDate...range.endDate).contains($0.signedAt.timeIntervalSince1970 * 1000)
    }.map(\.payload)
    let (start, page, hasMore) = Self.page(of: all, call.query, "paginationToken=")
    let items = page.map { ["signedPayload": $0] }
    return try Self.json(["paginationToken": "\(start + page.count)", "hasMore": hasMore, "notificationHistory": items])
  }

  private static func page(of all: [String], _ query: String, _ name: String) -> (Int, [String], Bool) {
    let start = min(Int(query.dropFirst(name.count)) ?? 0, all.count)
    let page = Array(all[start..<min(start + pageSize, all.count)])
    return (start, page, start + page.count < all.count)
  }

  private static let unknown = response(404, #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#)

  private static func json(_ object: [String: any Sendable]) throws -> Response {
    response(200, String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self))
  }

  private static func response(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> Response {
    var response = Response(status: .init(code: status), body: .init(byteBuffer: .init(string: body)))
    for (name, value) in headers {
      if let field = HTTPField.Name(name) { response.headers[field] = value }
    }
    return response
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    for method in [HTTPRequest.Method.get, .post, .put] {
      router.on("**", method: method) { [self] request, _ -> Response in try await respond(request) }
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

package func withAppStoreServer<T>(_ body: (AppStoreServer) async throws -> T) async throws -> T {
  let server = AppStoreServer()
  return try await running([server.server()]) {
    try await server.ready()
    return try await body(server)
  }
}
