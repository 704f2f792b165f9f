import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// A fake of Stripe's API on loopback. It checks key, version, form encoding and idempotency keys, keeps objects, and
/// fails on demand.
package final class StripeServer: Sendable {
  package static let secretKey = "sk_test_a_key_for_tests"
  package static let webhookSecret = "whsec_a_secret_for_tests"
  package static let version = "2026-03-25.dahlia"

  package struct Call: Sendable {
    package let method: String
    package let path: String
    package let form: [String: String]
    package let idempotencyKey: String?
  }

  /// What it does instead of its answer.
  package enum Behavior: Sendable {
    /// Nothing else.
    case works
    case answers(status: Int, body: String)
    /// Carries the request out, but does not answer.
    case hangs
    /// Carries the request out, but closes the connection in the middle of the answer.
    case breaksOff
  }

  private struct Reply: Sendable {
    let form: [String: String]
    let response: JSONValue
  }

  private struct State {
    var objects: [String: JSONValue] = [:]
    var replies: [String: Reply] = [:]
    var calls: [Call] = []
    var behaviors: [Behavior] = []
    var madeCount = 0
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }
  package var calls: [Call] { state.withLock { $0.calls } }

  package var settings: [String: String] {
    [
      "STRIPE_BASE_URL": url, "STRIPE_SECRET_KEY": Self.secretKey,
      "STRIPE_WEBHOOK_SECRET": "\(Self.webhookSecret),whsec_the_next_one",
    ]
  }

  /// Sets the behavior of the next `times` calls.
  package func next(_ behavior: Behavior, times: Int = 1) {
    state.withLock { $0.behaviors += Array(repeating: behavior, count: times) }
  }

  /// Keeps an object, by its `id`, in place of an earlier one.
  package func keep(_ object: JSONValue) {
    guard let id = object["id"]?.text else { return }
    state.withLock { $0.objects[id] = object }
  }

  package func forget(_ id: String) { _ = state.withLock { $0.objects.removeValue(forKey: id) } }

  package func object(_ id: String) -> JSONValue? { state.withLock { $0.objects[id] } }

  package func objects(beginning prefix: String) -> [JSONValue] {
    state.withLock { $0.objects }.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map(\.value)
  }

  private func answer(_ request: Request) async throws -> Response {
    let form = formFields(String(buffer: try await request.body.collect(upTo: 64 * 1024)))
    let key = request.headers[.idempotencyKey]
    let behavior = state.withLock { state in
      state.calls.append(
        Call(method: request.method.rawValue, path: request.uri.path, form: form, idempotencyKey: key))
      return state.behaviors.isEmpty ? nil : state.behaviors.removeFirst()
    }
    if case .answers(let status, let body) = behavior {
      return Response(status: .init(code: status), body: .init(byteBuffer: .init(string: body)))
    }
    let response = try checked(request, form, key)
    // `try?`: the sleep is cancelled when the test ends.
    if case .hangs = behavior { await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(3600)) } }
    guard case .breaksOff = behavior else { return response }
    return Response(status: response.status, body: .init(contentLength: 1000) { _ in throw BrokenOff() })
  }

  private func checked(_ request: Request, _ form: [String: String], _ key: String?) throws -> Response {
    guard request.headers[.authorization] == "Bearer \(Self.secretKey)" else {
      return try Self.error(401, code: nil, message: "Invalid API Key provided: sk_test_*****")
    }
    guard request.headers[HTTPField.Name("Stripe-Version")!] == Self.version else {
      return try Self.error(400, code: "version", message: "Another version.")
    }
    guard request.method == .post else { return try made(request.method, request, form) }
    guard request.headers[.contentType] == "application/x-www-form-urlencoded" else {
      return try Self.error(400, code: "form", message: "Not a form.")
    }
    guard let key, key.count <= 255 else { return try Self.error(400, code: "key", message: "No idempotency key.") }
    if let earlier = state.withLock({ $0.replies[key] }) {
      guard earlier.form == form else {
        return try Self.error(400, code: "idempotency_key_in_use", message: "Other parameters.")
      }
      return try Self.json(earlier.response, headers: ["Idempotent-Replayed": "true"])
    }
    return try made(request.method, request, form, key)
  }

  private func made(
    _ method: HTTPRequest.Method, _ request: Request, _ form: [String: String], _ key: String? = nil
  ) throws -> Response {
    let parts = request.uri.path.split(separator: "/").map(String.init)
    switch (method, parts.dropFirst().first ?? "", parts.count) {
    case (.post, "customers", 2): return try make("cus", form, key, ["object": "customer"])
    case (.post, "checkout", 3):
      guard form["mode"] != nil, form["line_items[0][price]"] != nil, form["success_url"] != nil else {
        return try Self.error(400, code: "parameter_missing", message: "Missing.")
      }
      return try withCustomer(form) {
        try make("cs", form, key, ["object": "checkout.session", "url": "https://checkout.stripe.test/pay"])
      }
    case (.post, "billing_portal", 3):
      return try withCustomer(form) {
        try make("bps", form, key, ["url": "https://billing.stripe.test/session"])
      }
    case (.get, "invoice_payments", 2):
      let intent = formFields(request.uri.query ?? "")["payment[payment_intent]"] ?? ""
      let found = objects(beginning: "inpay_").filter { $0["payment"]?["payment_intent"] == .string(intent) }
      return try Self.json(["object": "list", "data": .array(found), "has_more": false])
    case (.get, "invoices", 4):
      guard let lines = object(parts[2])?["all_lines"] else { return try Self.missing(parts[2]) }
      return try Self.json(["object": "list", "data": lines, "has_more": false])
    case (.get, _, 3): return try object(parts[2]).map { try Self.json($0) } ?? Self.missing(parts[2])
    case (.delete, "customers", 3):
      guard object(parts[2]) != nil else { return try Self.missing(parts[2]) }
      forget(parts[2])
      return try Self.json(["id": .string(parts[2]), "deleted": true])
    default: return try Self.error(404, code: nil, message: "Unrecognized request URL")
    }
  }

  private func withCustomer(_ form: [String: String], _ make: () throws -> Response) throws -> Response {
    guard let customer = form["customer"], object(customer) != nil else {
      return try Self.error(400, code: "resource_missing", parameter: "customer", message: "No such customer")
    }
    return try make()
  }

  private func make(
    _ prefix: String, _ form: [String: String], _ key: String?, _ members: [String: JSONValue]
  ) throws -> Response {
    let object = state.withLock { state in
      // A concurrent call with the key has made it.
      if let key, let earlier = state.replies[key] { return earlier.response }
      state.madeCount += 1
      let id = "\(prefix)_\(state.madeCount)"
      let object = JSONValue.object(members).with([
        "id": .string(id), "form": .object(form.mapValues(JSONValue.string)),
      ])
      state.objects[id] = object
      if let key { state.replies[key] = Reply(form: form, response: object) }
      return object
    }
    return try Self.json(object)
  }

  private static func missing(_ id: String) throws -> Response {
    try error(404, code: "resource_missing", parameter: "id", message: "No such object: \(id)")
  }

  private static func error(
    _ status: Int, code: String?, parameter: String? = nil, message: String
  ) throws -> Response {
    let content: JSONValue = [
      "type": "invalid_request_error", "code": code.map(JSONValue.string) ?? .null,
      "param": parameter.map(JSONValue.string) ?? .null, "message": .string(message),
    ]
    return try json(["error": content], status: status)
  }

  private static func json(
    _ value: JSONValue, status: Int = 200, headers: [String: String] = [:]
  ) throws -> Response {
    var response = Response(
      status: .init(code: status), headers: [.contentType: "application/json"],
      body: .init(byteBuffer: .init(data: try value.data)))
    for (name, value) in headers { HTTPField.Name(name).map { response.headers[$0] = value } }
    return response
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    for method in [HTTPRequest.Method.get, .post, .delete] {
      router.on("/v1/**", method: method) { [self] request, _ in try await answer(request) }
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

private struct BrokenOff: Error {}

package func withStripe<T>(_ body: (StripeServer) async throws -> T) async throws -> T {
  let stripe = StripeServer()
  return try await running([stripe.server()]) {
    try await stripe.ready()
    return try await body(stripe)
  }
}
