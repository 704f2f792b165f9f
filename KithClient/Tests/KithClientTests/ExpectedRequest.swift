import Foundation
import Testing

@testable import KithClient

/// Runs a call whose answer does not matter, and compares what it has sent.
func expectRequest(
  _ method: String, _ target: String, _ body: String? = nil, isBearer: Bool = true,
  sourceLocation: SourceLocation = #_sourceLocation, _ call: (KithClient) async throws -> Void
) async throws {
  let (client, transport) = try await KithClient.scripted { _, _ in .refusal(418, "no_answer") }
  await #expect(throws: KithFailure.self, sourceLocation: sourceLocation) { try await call(client) }
  let request = try #require(transport.requests.first, sourceLocation: sourceLocation)
  #expect(request.method == method, sourceLocation: sourceLocation)
  let query = request.url.query.map { "?" + ($0.removingPercentEncoding ?? "") } ?? ""
  #expect(request.url.path + query == target, sourceLocation: sourceLocation)
  #expect((request.headers["Authorization"] == "Bearer a.b.c") == isBearer, sourceLocation: sourceLocation)
  #expect((request.headers["Idempotency-Key"] == nil) == (method == "GET"), sourceLocation: sourceLocation)
  guard let body else { return }
  guard case .data(let sent) = request.body else {
    Issue.record("no body", sourceLocation: sourceLocation)
    return
  }
  #expect(request.headers["Content-Type"] == "application/json", sourceLocation: sourceLocation)
  let (received, shown) = (try json(sent), try json(Data(body.utf8)))
  #expect(received == shown, sourceLocation: sourceLocation)
}

private func json(_ data: Data) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: data) }
