import Support
import Testing
import Web

extension StackScenario {
  func expectUnavailable(_ service: ServiceName) async throws {
    for path in reads(of: service) { try await expectUnavailable(path) { try await alice.browser.get(path) } }
  }

  /// The answer is 503, says when to try again, and comes at once: a call that was not would take its five seconds.
  func expectUnavailable(_ what: String, _ request: () async throws -> Browser.Reply) async throws {
    let isPrompt = try await isDone(within: .seconds(4)) {
      let reply = try await request()
      #expect(reply.status == 503, "\(what): \(reply.text)")
      #expect(reply.headers.first(name: "retry-after") != nil, "\(what)")
    }
    #expect(isPrompt, "\(what)")
  }

  /// Runs `body` while nobody reaches the service: its address is one where nothing listens.
  func without(_ service: ServiceName, _ body: () async throws -> Void) async throws {
    let addresses = stack.dependencies.serviceAddresses
    let urls = addresses.urls(of: service)
    addresses.set(service, to: "http://127.0.0.1:1")
    defer { addresses.set(service, to: urls) }
    try await body()
  }
}
