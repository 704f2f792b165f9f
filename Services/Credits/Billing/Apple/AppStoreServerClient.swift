import AsyncHTTPClient
import Clients
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Wire

/// The App Store Server API. All calls are safe to repeat.
struct AppStoreServerClient: Sendable {
  let key: AppStoreServerKey
  let now: @Sendable () -> Date

  /// An app in an environment of the App Store.
  struct App: Sendable, Hashable {
    let bundleID: String
    let environment: AppStoreEnvironment
  }

  /// A page of the history of notifications.
  struct NotificationPage: Sendable {
    let signedPayloads: [String]
    /// nil after the last page.
    let next: String?
  }

  /// The state of a subscription, by its newest transaction.
  struct Status: Decodable, Sendable {
    let originalTransactionId: String
    let status: Int
    let signedTransactionInfo: String?
    let signedRenewalInfo: String?
  }

  private static let timeout: TimeAmount = .seconds(15)
  private static let bytesMax = 8 * 1024 * 1024
  /// The App Store has 20 entries on a page: more than any person has bought, and any app in half a day.
  static let pagesMax = 5000

  /// What the App Store has sent, or has tried to send, to the app's server.
  ///
  /// - Parameter token: ``NotificationPage/next`` of the page before; the times must be the same.
  /// - Throws: ``AppStoreServerError``; a network error when the App Store did not answer in time.
  func notifications(
    of app: App, from start: Date, to end: Date, after token: String? = nil
  ) async throws -> NotificationPage {
    struct Query: Encodable {
      let startDate: Int
      let endDate: Int
    }
    struct Page: Decodable {
      let paginationToken: String?
      let hasMore: Bool?
      let notificationHistory: [Item]?
      struct Item: Decodable { let signedPayload: String? }
    }
    let query = token.map { "?paginationToken=\(Self.encoded($0))" } ?? ""
    let body = try JSON.encode(Query(startDate: start.milliseconds, endDate: end.milliseconds))
    let page = try await call(Page.self, .POST, "/inApps/v1/notifications/history\(query)", body, of: app)
    return NotificationPage(
      signedPayloads: (page.notificationHistory ?? []).compactMap(\.signedPayload),
      next: page.hasMore == true ? page.paginationToken : nil)
  }

  /// All transactions of the customer who has made one of them, each signed.
  ///
  /// - Throws: ``AppStoreServerError``; a network error when the App Store did not answer in time.
  func transactions(ofCustomerWith transaction: String, in app: App) async throws -> [String] {
    struct Page: Decodable {
      let revision: String?
      let hasMore: Bool?
      let signedTransactions: [String]?
    }
    var all: [String] = []
    var query = ""
    for _ in 0..<Self.pagesMax {
      let path = "/inApps/v2/history/\(Self.encoded(transaction))\(query)"
      let page = try await call(Page.self, .GET, path, of: app)
      all += page.signedTransactions ?? []
      guard page.hasMore == true, let revision = page.revision else { break }
      query = "?revision=\(Self.encoded(revision))"
    }
    return all
  }

  /// The states of all subscriptions of the customer who has made the transaction.
  ///
  /// - Throws: ``AppStoreServerError``; a network error when the App Store did not answer in time.
  func statuses(ofCustomerWith transaction: String, in app: App) async throws -> [Status] {
    struct Answer: Decodable {
      let data: [Group]?
      struct Group: Decodable { let lastTransactions: [Status]? }
    }
    let path = "/inApps/v1/subscriptions/\(Self.encoded(transaction))"
    return try await call(Answer.self, .GET, path, of: app).data?.flatMap { $0.lastTransactions ?? [] } ?? []
  }

  /// Answers a request for information about the consumption of a purchase.
  ///
  /// - Throws: ``AppStoreServerError``; a network error when the App Store did not answer in time.
  func send(_ consumption: Consumption, of transaction: String, in app: App) async throws {
    let path = "/inApps/v2/transactions/consumption/\(Self.encoded(transaction))"
    _ = try await answer(.PUT, path, JSONEncoder().encode(consumption), of: app)
  }

  private func call<Answer: Decodable>(
    _ type: Answer.Type, _ method: HTTPMethod, _ path: String, _ body: Data? = nil, of app: App
  ) async throws -> Answer {
    try JSONDecoder().decode(type, from: try await answer(method, path, body, of: app))
  }

  private func answer(_ method: HTTPMethod, _ path: String, _ body: Data? = nil, of app: App) async throws -> Data {
    var request = HTTPClientRequest(url: key.url(of: app.environment) + path)
    request.method = method
    request.headers.add(name: "authorization", value: "Bearer \(try key.token(for: app.bundleID, at: now()))")
    if let body {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(data: body))
    }
    let response = try await OutboundHTTP.client.execute(request, timeout: Self.timeout)
    let answer = Data(buffer: try await response.body.collect(upTo: Self.bytesMax))
    let status = Int(response.status.code)
    guard (200..<300).contains(status) else {
      throw AppStoreServerError(
        status: status, body: answer, retryAfter: response.headers.first(name: "retry-after"), at: now())
    }
    return answer
  }

  /// Percent-encoded, for a segment of a path or a value of a query.
  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~"))) ?? ""
  }
}

extension Date {
  /// Since 1970, as the App Store writes times.
  var milliseconds: Int { Int((timeIntervalSince1970 * 1000).rounded()) }
}
