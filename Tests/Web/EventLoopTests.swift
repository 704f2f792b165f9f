import Database
import Hummingbird
import NIOPosix
import ServiceLifecycle
import Support
import Testing
import Tokens
import Wire

@testable import Web

/// Which requests run on an event loop.
@Suite struct EventLoopTests {
  @Test(arguments: engines) func onlyWhatTakesLongLeavesTheLoopOfItsConnection(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let dependencies = Dependencies(
        Settings(
          testDatabase.settings.merging(["PORT": "0", "SERVICE_KEY": "a-key-of-32-characters-for-a-test"]) { $1 }),
        logger: quiet)
      let database = try await dependencies.openDatabase(ServiceSchema("test", []))
      let authenticator = CallerAuthenticator(
        keys: try ServiceKeys(dependencies.settings), verifier: AccessTokenVerifier(KeyRing(.init(signing: nil))),
        ended: EndedSessionList(), now: dependencies.now
      ) { _ in nil }
      let server = try Server(
        .credits, in: dependencies, database: database, authenticator: authenticator,
        api: OpenAPI(yaml: Array("paths: {}".utf8))
      ) { routes in
        let isOffLoop = { @Sendable (_: Request, _: Context) in
          "\(MultiThreadedEventLoopGroup.currentEventLoop == nil)"
        }
        routes.offEventLoop().get("/slow", use: isOffLoop)
        routes.post("/body", use: isOffLoop)
        routes.get("/quick") { _, _ in
          let loop = MultiThreadedEventLoopGroup.currentEventLoop
          var isOnLoop = [loop != nil]
          _ = try await database.read { try $0.rows("select 1 as one") }
          isOnLoop.append(MultiThreadedEventLoopGroup.currentEventLoop === loop)
          try await Task.sleep(for: .milliseconds(1))
          isOnLoop.append(MultiThreadedEventLoopGroup.currentEventLoop === loop)
          await withTaskGroup(of: Bool.self) { group in
            group.addTask { MultiThreadedEventLoopGroup.currentEventLoop === loop }
            for await child in group { isOnLoop.append(child) }
          }
          return isOnLoop.map(String.init(describing:)).joined(separator: " ")
        }
      }
      try await running([server]) {
        let browser = Browser("http://127.0.0.1:\(try await server.port.number)")
        #expect(try await browser.get("/quick").text == "true true true true")
        #expect(try await browser.get("/slow").text == "true")
        #expect(try await browser.post("/body", ["text": String(repeating: "x", count: 16 * 1024)]).text == "true")
        #expect(try await browser.post("/body", ["text": "x"]).text == "false")
      }
    }
  }

  @Test(.timeLimit(.minutes(1))) func whatComputesForLongOnALoopIsReported() async throws {
    let (log, group) = (RecordedLog(), MultiThreadedEventLoopGroup.singleton)
    await withTaskExecutorPreference(EventLoopExecutor(group.next(), logger: log.logger)) { await Task.yield() }
    #expect(log.count(.warning) == 0)
    await withTaskExecutorPreference(EventLoopExecutor(group.next(), logger: log.logger)) {
      let started = EventLoopExecutor.threadMilliseconds
      while EventLoopExecutor.threadMilliseconds - started < 2 * EventLoopExecutor.longMilliseconds {}
      await Task.yield()
    }
    while log.count(.warning) == 0 { try await Task.sleep(for: .milliseconds(10)) }
  }
}
