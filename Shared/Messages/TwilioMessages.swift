import AsyncHTTPClient
import Clients
import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import Wire

/// Sends messages through Twilio's Programmable Messaging API.
package struct TwilioMessages: Messages {
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
    _ = try await taken(request(text, number))
  }

  /// Looks through the newest messages to the number, whatever has become of them.
  package func hasTaken(endingIn ending: String, to number: PhoneNumber) async throws -> Bool {
    var request = HTTPClientRequest(url: account.url + "?" + Form.encoded([("To", number.text), ("PageSize", "50")]))
    request.headers.add(name: "authorization", value: account.authorization)
    let body = try await taken(request)
    // `try?`: an answer that is no list does not tell.
    guard let list = try? JSON.decode(Listed.self, from: body) else { throw MessageFailure(.broken) }
    return list.messages.contains { $0.body?.hasSuffix(ending) ?? false }
  }

  private struct Listed: Decodable {
    struct Message: Decodable {
      let body: String?
    }

    let messages: [Message]
  }

  private func taken(_ request: HTTPClientRequest) async throws -> Data {
    let (response, body) = try await answer(to: request)
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
    let form = Form.encoded([("To", number.text), account.sender, ("Body", text)])
    request.body = .bytes(ByteBuffer(string: form))
    return request
  }

  private func answer(to request: HTTPClientRequest) async throws -> (HTTPClientResponse, Data) {
    let left = Deadline.remaining(of: timeout).components
    let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { throw MessageFailure(.unreachable) }
    do {
      let response = try await Outbound.http.execute(request, timeout: .milliseconds(milliseconds))
      return (response, Data(buffer: try await response.body.collect(upTo: Self.bodyBytesMax)))
    } catch {
      try Task.checkCancellation()
      throw MessageFailure(.unreachable)
    }
  }

  private struct Refusal: Decodable {
    let code: Int?
  }

  /// What Twilio's error codes mean to us (its "Error and Warning Dictionary").
  static func failure(_ status: Int, retryAfter: String?, _ body: Data) -> MessageFailure {
    // `try?`: whatever stands before Twilio may answer in its own words. Twilio's own may name the number, and go no
    // further.
    let code = (try? JSON.decode(Refusal.self, from: body))?.code
    let wait = retryAfter.flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? Duration.seconds($0) : nil }
    switch (status, code) {
    case (429, _), (_, 20429), (_, 14107): return MessageFailure(.limited, code: code, retryAfter: wait)
    case (500..., _), (408, _): return MessageFailure(.broken, code: code, retryAfter: wait)
    case (401, _), (_, 20003), (_, 20404): return MessageFailure(.credentials, code: code)
    case (_, 21211), (_, 21217), (_, 21265), (_, 21614): return MessageFailure(.invalidNumber, code: code)
    case (_, 21610): return MessageFailure(.optedOut, code: code)
    default: return MessageFailure(.refused, code: code)
    }
  }
}
