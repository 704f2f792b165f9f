import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization
import Web

/// A fake of Twilio's API on loopback that records messages, and fails on demand.
package final class TwilioServer: Sendable {
  package static let account = "AC0123456789abcdef0123456789abcdef"
  package static let token = "a Twilio token for tests"
  package static let sender = "+15005550006"

  package struct Message: Sendable {
    package let form: [String: String]
    package let rawForm: String

    package var to: String { form["To"] ?? "" }
    package var text: String { form["Body"] ?? "" }
  }

  /// What it does instead of accepting a message with 201.
  package enum Behavior: Sendable {
    /// Responds with Twilio's error JSON.
    case refuses(status: Int, code: Int, headers: [String: String] = [:])
    /// Responds as a proxy in front of Twilio would.
    case answers(status: Int, body: String)
    /// Accepts the message, but responds with an error status.
    case acceptsThenFails(status: Int)
    case acceptsThenHangs
    case hangs
  }

  private let state = Mutex((messages: [Message](), calls: 0, pendingBehaviors: [Behavior]()))
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }
  /// The messages that it has accepted.
  package var messages: [Message] { state.withLock { $0.messages } }
  package var calls: Int { state.withLock { $0.calls } }

  /// Sets the behavior of the next `times` calls.
  package func next(_ behavior: Behavior, times: Int = 1) {
    state.withLock { $0.pendingBehaviors += Array(repeating: behavior, count: times) }
  }

  package var settings: [String: String] {
    [
      "TWILIO_BASE_URL": url, "TWILIO_ACCOUNT_SID": Self.account, "TWILIO_AUTH_TOKEN": Self.token,
      "TWILIO_PHONE_NUMBER": Self.sender,
    ]
  }

  private func answer(_ request: Request) async throws -> Response {
    let body = try await request.body.collect(upTo: 64 * 1024)
    let behavior = state.withLock { state in
      state.calls += 1
      return state.pendingBehaviors.isEmpty ? nil : state.pendingBehaviors.removeFirst()
    }
    switch behavior {
    case .refuses(let status, let code, let headers): return Self.refusal(status, code, headers)
    case .answers(let status, let body):
      return Response(status: .init(code: status), body: .init(byteBuffer: .init(string: body)))
    // `try?`: the sleep is cancelled when the test ends.
    case .hangs: await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(3600)) }
    case .acceptsThenFails, .acceptsThenHangs, nil: break
    }
    if case .acceptsThenFails(let status) = behavior {
      keep(String(buffer: body))
      return Response(status: .init(code: status))
    }
    if case .acceptsThenHangs = behavior {
      keep(String(buffer: body))
      // `try?`: the sleep is cancelled when the test ends.
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(3600)) }
      return Response(status: .serviceUnavailable)
    }
    let credentials = Data("\(Self.account):\(Self.token)".utf8).base64EncodedString()
    guard request.headers[.authorization] == "Basic \(credentials)" else { return Self.refusal(401, 20003, [:]) }
    guard request.headers[.contentType] == "application/x-www-form-urlencoded" else { return Response(status: .ok) }
    let form = String(buffer: body)
    state.withLock { $0.messages.append(Message(form: formFields(form), rawForm: form)) }
    return Response(
      status: .created, headers: [.contentType: "application/json"],
      body: .init(byteBuffer: .init(string: #"{"sid":"SM0123456789abcdef0123456789abcdef","status":"queued"}"#)))
  }

  private func keep(_ form: String) {
    state.withLock { $0.messages.append(Message(form: formFields(form), rawForm: form)) }
  }

  /// The messages to a number, the newest first, in the characters that Twilio sends ("smart encoding").
  private func listed(to number: String) throws -> Response {
    let bodies = messages.filter { $0.to == number }.reversed()
      .map { ["body": $0.text.replacing(/[“”]/, with: "\""), "status": "queued"] }
    let json = try JSONSerialization.data(withJSONObject: ["messages": Array(bodies)])
    return Response(
      status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(data: json)))
  }

  private static func refusal(_ status: Int, _ code: Int, _ headers: [String: String]) -> Response {
    let json = """
      {"code":\(code),"message":"The 'To' number +15005550001 is not valid.",\
      "more_info":"https://www.twilio.com/docs/errors/\(code)","status":\(status)}
      """
    var response = Response(status: .init(code: status), body: .init(byteBuffer: .init(string: json)))
    response.headers[.contentType] = "application/json"
    for (name, value) in headers { HTTPField.Name(name).map { response.headers[$0] = value } }
    return response
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/2010-04-01/Accounts/:account/Messages.json") { [self] request, context -> Response in
      guard context.parameters.get("account") == Self.account else { return Self.refusal(404, 20404, [:]) }
      return try await answer(request)
    }
    router.get("/2010-04-01/Accounts/:account/Messages.json") { [self] request, context -> Response in
      guard context.parameters.get("account") == Self.account else { return Self.refusal(404, 20404, [:]) }
      return try listed(to: request.uri.queryParameters["To"].map(String.init) ?? "")
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

package func withTwilio<T>(_ body: (TwilioServer) async throws -> T) async throws -> T {
  let twilio = TwilioServer()
  return try await running([twilio.server()]) {
    try await twilio.ready()
    return try await body(twilio)
  }
}
