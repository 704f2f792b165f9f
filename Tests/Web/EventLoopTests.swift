import Database
import Hummingbird
import NIOPosix
import ServiceLifecycle
import Support
import Testing
import Tokens
import Wire

@testable import Web

/// Where requests run.
@Suite struct EventLoopTests {
  @Test(arguments: engines) func onlyQuickRequestsAreAnsweredOnTheLoopOfTheirConnection(engine: Engine) async throws {
    try await withPlace(engine) { place in
      let surroundings = Surroundings(
        Settings(place.settings.merging(["PORT": "0", "SERVICE_KEY": "a-key-of-32-characters-for-a-test"]) { $1 }),
        logger: quiet)
      let database = try await surroundings.openDatabase(for: "test", [])
      let callers = Callers(
        keys: try ServiceKeys(surroundings.settings), verifier: Verifier(KeyRing(.init(signing: nil))),
        ended: EndedSessionList(), now: surroundings.now
      ) { _ in nil }
      let server = try Server(
        .credits, in: surroundings, database: database, callers: callers, api: OpenAPI(yaml: Array("paths: {}".utf8)),
        isQuick: { $0.uri.path == "/quick" }
      ) { routes in
        routes.get("/slow") { _, _ in "\(MultiThreadedEventLoopGroup.currentEventLoop == nil)" }
        routes.get("/quick") { _, _ in
          let loop = MultiThreadedEventLoopGroup.currentEventLoop
          var isThere = [loop != nil]
          _ = try await database.read { try $0.rows("select 1 as one") }
          isThere.append(MultiThreadedEventLoopGroup.currentEventLoop === loop)
          try await Task.sleep(for: .milliseconds(1))
          isThere.append(MultiThreadedEventLoopGroup.currentEventLoop === loop)
          await withTaskGroup(of: Bool.self) { group in
            group.addTask { MultiThreadedEventLoopGroup.currentEventLoop === loop }
            for await child in group { isThere.append(child) }
          }
          return isThere.map(String.init(describing:)).joined(separator: " ")
        }
      }
      try await running([server]) {
        let browser = Browser("http://127.0.0.1:\(try await server.port.number)")
        #expect(try await browser.get("/quick").text == "true true true true")
        #expect(try await browser.get("/slow").text == "true")
      }
    }
  }
}
