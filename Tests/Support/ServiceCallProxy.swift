import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Synchronization
import Web
import Wire

/// A call from one service to another, as it went over the wire.
package struct ServiceCall: Codable, Sendable {
  package let method: String
  package let path: String
  package let query: [String: String]
  /// nil without a body.
  package let body: JSONValue?
  package let status: Int
  /// nil without a body.
  package let reply: JSONValue?

  package init(
    method: String, path: String, query: [String: String], body: JSONValue?, status: Int, reply: JSONValue?
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.body = body
    self.status = status
    self.reply = reply
  }
}

/// A proxy in front of a service that records what passes, or answers itself with what was recorded before.
package final class ServiceCallProxy: Sendable {
  private struct State {
    var calls: [ServiceCall] = []
    var answer: ServiceCall?
  }

  private let service: Browser
  private let state = Mutex(State())
  private let listening = ListeningPort()

  package init(before service: Browser) { self.service = service }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  /// The calls since the last time.
  package func takeCalls() -> [ServiceCall] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }

  /// Answers every call with the reply of this one, whatever is asked; nil passes them on.
  package func answer(with call: ServiceCall?) { state.withLock { $0.answer = call } }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    for method in [HTTPRequest.Method.get, .post, .put, .delete] {
      router.on("**", method: method) { [self] request, _ in try await respond(to: request) }
    }
    return loopbackServer(router, listening)
  }

  private func respond(to request: Request) async throws -> Response {
    let body = try await request.body.collect(upTo: 1024 * 1024)
    if let answer = state.withLock({ $0.answer }) {
      return Response(status: .init(code: answer.status), try answer.reply?.data ?? Data())
    }
    var headers = [Header.serviceKey: request.headers[.serviceKey] ?? ""]
    headers[Header.idempotencyKey] = request.headers[.idempotencyKey]
    let data = body.readableBytes > 0 ? Data(buffer: body) : nil
    let reply = try await service.with(headers).send(
      HTTPMethod(rawValue: request.method.rawValue), request.uri.string, body: data)
    let query = request.uri.queryParameters.map { (String($0.key), String($0.value)) }
    let call = ServiceCall(
      method: request.method.rawValue, path: request.uri.path, query: Dictionary(query) { $1 },
      body: try data.map { try JSON.decode(JSONValue.self, from: $0) }, status: reply.status,
      reply: reply.body.isEmpty ? nil : try JSON.decode(JSONValue.self, from: reply.body))
    state.withLock { $0.calls.append(call) }
    return Response(status: .init(code: reply.status), reply.body)
  }
}

extension Response {
  fileprivate init(status: HTTPResponse.Status, _ body: Data) {
    self.init(
      status: status, headers: [.contentType: "application/json"], body: .init(byteBuffer: ByteBuffer(data: body)))
  }
}
