import AsyncHTTPClient
import Clients
import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import Web
import Wire

/// Sends SMS through Twilio's Programmable Messaging API.
package struct TwilioSMSSender: SMSSender {
  private let account: TwilioAccount
  private let logger: Logger
  private let timeout: Duration
  private static let bodyBytesMax = 256 * 1024

  package init(_ account: TwilioAccount, logger: Logger, timeout: Duration = .seconds(10)) {
    self.account = account
    self.logger = logger
    self.timeout = timeout
  }

  package func send(_ text: String, to number: PhoneNumber) async throws {
    _ = try await execute(request(text, number))
  }

  /// Searches the 50 newest messages to the number, whatever their status.
  package func hasAccepted(textEndingIn ending: String, to number: PhoneNumber) async throws -> Bool {
    let query = URLEncodedForm.encode([("To", number.text), ("PageSize", "50")])
    var request = HTTPClientRequest(url: account.url + "?" + query)
    request.headers.add(name: "authorization", value: account.authorization)
    let body = try await execute(request)
    // `try?`: from a response that is no list, nothing can be determined.
    guard let list = try? JSON.decode(MessageList.self, from: body) else { throw SMSFailure(.broken) }
    return list.messages.contains { $0.body?.hasSuffix(ending) ?? false }
  }

  private struct MessageList: Decodable {
    struct Message: Decodable {
      let body: String?
    }

    let messages: [Message]
  }

  /// The body of a successful response.
  ///
  /// - Throws: ``SMSFailure`` for any other response.
  private func execute(_ request: HTTPClientRequest) async throws -> Data {
    let (response, body) = try await response(to: request)
    guard !(200..<300).contains(response.status.code) else { return body }
    let failure = Self.failure(Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"), body)
    if failure.reason == .credentials {
      logger.error("refused by Twilio: check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN")
    }
    throw failure
  }

  private func request(_ text: String, _ number: PhoneNumber) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: account.url)
    request.method = .POST
    request.headers.add(name: "authorization", value: account.authorization)
    request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
    let form = URLEncodedForm.encode([("To", number.text), account.sender, ("Body", text)])
    request.body = .bytes(ByteBuffer(string: form))
    return request
  }

  private func response(to request: HTTPClientRequest) async throws -> (HTTPClientResponse, Data) {
    let left = Deadline.remaining(of: timeout).components
    let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { throw SMSFailure(.unreachable) }
    do {
      let response = try await OutboundHTTP.client.execute(request, timeout: .milliseconds(milliseconds))
      return (response, Data(buffer: try await response.body.collect(upTo: Self.bodyBytesMax)))
    } catch {
      try Task.checkCancellation()
      throw SMSFailure(.unreachable)
    }
  }

  private struct ErrorBody: Decodable {
    let code: Int?
  }

  /// Maps Twilio's error codes (its "Error and Warning Dictionary").
  static func failure(_ status: Int, retryAfter: String?, _ body: Data) -> SMSFailure {
    // `try?`: a proxy in front of Twilio may respond in another format. Twilio's message may contain the number and is
    // dropped.
    let code = (try? JSON.decode(ErrorBody.self, from: body))?.code
    let wait = retryAfter.flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? Duration.seconds($0) : nil }
    switch (status, code) {
    case (429, _), (_, 20429), (_, 14107): return SMSFailure(.limited, code: code, retryAfter: wait)
    case (500..., _), (408, _): return SMSFailure(.broken, code: code, retryAfter: wait)
    case (401, _), (_, 20003), (_, 20404): return SMSFailure(.credentials, code: code)
    case (_, 21211), (_, 21217), (_, 21265), (_, 21614): return SMSFailure(.invalidNumber, code: code)
    case (_, 21610): return SMSFailure(.optedOut, code: code)
    default: return SMSFailure(.refused, code: code)
    }
  }
}
