import AsyncHTTPClient
import Clients
import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Web
import Wire

/// HTTP calls to Stripe's API: form-encoded requests, with the pinned version, and with an idempotency key where they
/// create something.
struct StripeClient: Sendable {
  let account: StripeAccount
  let logger: Logger
  private let timeout: Duration
  private static let bodyBytesMax = 2 * 1024 * 1024

  /// - Parameter timeout: of a call with its second attempt.
  init(_ account: StripeAccount, logger: Logger, timeout: Duration = .seconds(15)) {
    self.account = account
    self.logger = logger
    self.timeout = timeout
  }

  /// - Throws: ``StripeError``.
  func get<T: Decodable>(
    _ path: String, _ query: [(name: String, value: String)] = [], as type: T.Type = T.self
  ) async throws -> T {
    let target = query.isEmpty ? path : path + "?" + URLEncodedForm.encode(query)
    return try await call(.GET, target, form: nil, idempotencyKey: nil)
  }

  /// Safe to repeat under the same key for 24 hours.
  ///
  /// - Throws: ``StripeError``.
  func post<T: Decodable>(
    _ path: String, _ form: [(name: String, value: String)], idempotencyKey: String, as type: T.Type = T.self
  ) async throws -> T {
    try await call(.POST, path, form: URLEncodedForm.encode(form), idempotencyKey: idempotencyKey)
  }

  /// Safe to repeat.
  ///
  /// - Throws: ``StripeError``.
  func delete<T: Decodable>(_ path: String, as type: T.Type = T.self) async throws -> T {
    try await call(.DELETE, path, form: nil, idempotencyKey: nil)
  }

  /// A path with an id of Stripe's, which is part of a received event.
  ///
  /// - Throws: ``ParkedEvent`` for what cannot be such an id.
  static func path(_ collection: String, _ id: String) throws(ParkedEvent) -> String {
    let isID =
      (1...255).contains(id.utf8.count) && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    guard isID else { throw ParkedEvent("it has an id that is none of Stripe's") }
    return "/v1/\(collection)/\(id)"
  }

  private struct ErrorBody: Decodable {
    struct Content: Decodable {
      let code: String?
      let param: String?
    }

    let error: Content
  }

  /// Makes a second attempt when the first had no response: reads and calls with an idempotency key have their effect
  /// once. A conflict means that the first attempt still runs.
  private func call<T: Decodable>(
    _ method: HTTPMethod, _ target: String, form: String?, idempotencyKey: String?
  ) async throws -> T {
    let end = ContinuousClock.now + Deadline.remaining(of: timeout)
    do {
      return try await attempt(method, target, form: form, idempotencyKey: idempotencyKey, until: end)
    } catch let error as StripeError where error.cause == .unreachable || error.cause == .refused(409) {
      try await Task.sleep(for: .milliseconds(Int.random(in: 200...500)))
      return try await attempt(method, target, form: form, idempotencyKey: idempotencyKey, until: end)
    }
  }

  private func attempt<T: Decodable>(
    _ method: HTTPMethod, _ target: String, form: String?, idempotencyKey: String?, until end: ContinuousClock.Instant
  ) async throws -> T {
    var request = HTTPClientRequest(url: account.url + target)
    request.method = method
    request.headers.add(name: "authorization", value: account.authorization)
    request.headers.add(name: "stripe-version", value: StripeAccount.apiVersion)
    if let idempotencyKey { request.headers.add(name: "idempotency-key", value: idempotencyKey) }
    if let form {
      request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
      request.body = .bytes(ByteBuffer(string: form))
    }
    let (status, body) = try await response(to: request, until: end)
    guard (200..<300).contains(status) else { throw error(status, body) }
    do { return try JSON.decode(T.self, from: body) } catch is DecodingError { throw StripeError(.unreadable) }
  }

  private func response(
    to request: HTTPClientRequest, until end: ContinuousClock.Instant
  ) async throws -> (status: Int, body: Data) {
    let left = (end - .now).components
    let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { throw StripeError(.timeout) }
    do {
      let response = try await OutboundHTTP.client.execute(request, timeout: .milliseconds(milliseconds))
      let body = Data(buffer: try await response.body.collect(upTo: Self.bodyBytesMax))
      return (Int(response.status.code), body)
    } catch let error as HTTPClientError where error.isTimeout {
      throw StripeError(.timeout)
    } catch {
      try Task.checkCancellation()
      throw StripeError(.unreachable)
    }
  }

  /// Stripe's message may name the key or the customer, and is dropped.
  private func error(_ status: Int, _ body: Data) -> StripeError {
    // `try?`: a proxy in front of Stripe may respond in another format.
    let content = (try? JSON.decode(ErrorBody.self, from: body))?.error
    let error = StripeError(.refused(status), code: content?.code, parameter: content?.param)
    if error.isKeyError {
      logger.error("refused by Stripe: check STRIPE_SECRET_KEY", metadata: ["error": "\(error)"])
    }
    return error
  }
}

extension HTTPClientError {
  fileprivate var isTimeout: Bool {
    self == .deadlineExceeded || self == .readTimeout || self == .writeTimeout
  }
}
