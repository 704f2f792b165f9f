import AsyncHTTPClient
import Clients
import Database
import Foundation
import NIOCore
import NIOFoundationCompat
import Outbox
import Web
import Wire

/// `BILLING_URL`: a billing system of the operator's own, which is asked over HTTP. Grants are reported from an outbox,
/// at least once.
struct RemoteBilling: BillingProvider {
  private let api: BillingAPI
  private let outbox: Outbox
  private let breaker = CircuitBreaker()

  init(_ api: BillingAPI, outbox: Outbox) {
    self.api = api
    self.outbox = outbox
  }

  /// While the billing system does not answer, nothing is spent, and callers do not wait for it.
  func checkCredits(_ user: UserID, cost: Int) async throws -> Bool {
    let isAllowed = try await breaker.call(fallback: Bool?.none) { [api] in
      try await api.checkCredits(user, cost: cost)
    }
    guard let isAllowed else { throw Failure.billingUnavailable }
    return isAllowed
  }

  func onCreditsGranted(_ operation: CreditOperation, on db: any Connection) throws {
    let grant = CreditsGranted(
      id: operation.id, user_id: operation.user, amount: operation.amount, source: operation.type.rawValue)
    try outbox.add(
      CreditsGranted.kind, grant, deduplicationKey: operation.id.description, user: operation.user, at: operation.at,
      on: db)
  }
}

/// The message to the billing system about a grant.
struct CreditsGranted: Codable, Sendable {
  static let kind = "credits_granted"

  /// The operation in the ledger, by which a repeated message is known.
  let id: OperationID
  let user_id: UserID
  let amount: Int
  /// The type of the operation: `apple_iap`, `stripe_purchase`, `signup_bonus`, …
  let source: String

  static func delivery(_ api: BillingAPI) -> Delivery {
    Delivery(kind, giveUpAfter: .seconds(7 * 86_400)) { message in
      try await api.reportGrant(try message.decode(CreditsGranted.self))
    }
  }
}

/// HTTP calls to the billing system.
struct BillingAPI: Sendable {
  /// Without a trailing slash.
  let url: String
  /// The service key that it is sent.
  let key: String

  private static let checkTimeout = Duration.seconds(3)
  private static let reportTimeout = Duration.seconds(10)
  private static let bodyBytesMax = 64 * 1024

  private struct Check: Encodable {
    let user_id: UserID
    let cost: Int
  }

  private struct CheckReply: Decodable {
    let allowed: Bool
  }

  /// - Throws: 503 for every answer but 200 with `allowed`.
  func checkCredits(_ user: UserID, cost: Int) async throws -> Bool {
    let (status, body) = try await post(
      "/check_credits", try JSON.encode(Check(user_id: user, cost: cost)), timeout: Self.checkTimeout)
    // `try?`: an answer in another format is none.
    guard status == 200, let reply = try? JSON.decode(CheckReply.self, from: body) else {
      throw Failure.billingUnavailable
    }
    return reply.allowed
  }

  func reportGrant(_ grant: CreditsGranted) async throws {
    let (status, _) = try await post(
      "/on_credits_granted", try JSON.encode(grant), idempotencyKey: grant.id.description, timeout: Self.reportTimeout)
    guard (200..<300).contains(status) else { throw BillingReportRefused(status: status) }
  }

  private func post(
    _ path: String, _ body: Data, idempotencyKey: String? = nil, timeout: Duration
  ) async throws -> (status: Int, body: Data) {
    var request = HTTPClientRequest(url: url + path)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: Header.serviceKey, value: key)
    if let idempotencyKey { request.headers.add(name: Header.idempotencyKey, value: idempotencyKey) }
    request.body = .bytes(ByteBuffer(data: body))
    let left = Deadline.remaining(of: timeout).components
    let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
    do {
      let response = try await OutboundHTTP.client.execute(request, timeout: .milliseconds(max(1, milliseconds)))
      let body = Data(buffer: try await response.body.collect(upTo: Self.bodyBytesMax))
      return (Int(response.status.code), body)
    } catch {
      try Task.checkCancellation()
      throw Failure.billingUnavailable
    }
  }
}

/// The billing system has not accepted the report of a grant, which is tried again.
struct BillingReportRefused: Error, CustomStringConvertible {
  let status: Int

  var description: String { "the billing system answered \(status)" }
}

extension Failure {
  static let billingUnavailable = Failure(
    .unavailable, "billing_unavailable", "The billing system cannot be reached at the moment.", retryAfterSeconds: 3)
}

extension Settings {
  /// The billing system at `BILLING_URL`; nil without it.
  ///
  /// - Throws: ``StartFailure`` that names the variable.
  func billingAPI() throws -> BillingAPI? {
    guard let url = nonempty("BILLING_URL") else { return nil }
    guard WebAddress.isSafe(url) else { throw StartFailure("BILLING_URL must be an https address") }
    let key = try secret("BILLING_SERVICE_KEY")
    return BillingAPI(url: url.hasSuffix("/") ? String(url.dropLast()) : url, key: key)
  }
}
