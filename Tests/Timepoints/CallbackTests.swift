import Crypto
import Database
import Foundation
import Hummingbird
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Timepoints

/// The end of a generation is posted to the address that came with its request, and to no private one.
@Suite struct CallbackTests {
  private static let key = Data(repeating: 7, count: 32)
  private static let secret = "whsec_\(key.base64EncodedString())"

  /// What was posted; the first one is answered with 500.
  private final class Receiver: Sendable {
    struct Post {
      let headers: [String: String]
      let body: String
    }

    let posts = Mutex<[Post]>([])
    let listening = ListeningPort()

    func server() -> some ApplicationProtocol {
      let router = Router()
      router.post("/done") { [self] request, _ -> Response in
        let body = String(buffer: try await request.body.collect(upTo: 100_000))
        let headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { $1 }
        let count = posts.withLock { posts in
          posts.append(Post(headers: headers, body: body))
          return posts.count
        }
        return Response(status: count == 1 ? .internalServerError : .ok)
      }
      return loopbackServer(router, listening)
    }
  }

  @Test(arguments: engines) func itIsSignedAndRepeatedUntilItIsTaken(_ engine: Engine) async throws {
    let receiver = Receiver()
    try await running([receiver.server()]) {
      let host = "127.0.0.1:\(try await receiver.listening.number)"
      let settings = ["CALLBACK_SECRET": Self.secret, "CALLBACK_ALLOWED_HOSTS": host]
      try await withStack(engine, settings) { stack in
        let alice = try await stack.signIn("alice")
        let made = try await alice.generate(
          "Apollo 11", ["callback_url": "http://\(host)/done", "request_context": ["job": 7]])
        #expect(made.status == 200, "\(made.text)")
        try await eventually("the second post") {
          stack.clock.advance(by: .seconds(5))
          return receiver.posts.withLock { $0.count } >= 2
        }
        let posts = receiver.posts.withLock { $0 }
        #expect(Set(posts.map { $0.headers["webhook-id"] ?? "" }).count == 1)
        for post in posts {
          let signed = "\(post.headers["webhook-id"] ?? "").\(post.headers["webhook-timestamp"] ?? "").\(post.body)"
          let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: Self.key))
          #expect(post.headers["webhook-signature"] == "v1,\(Data(code).base64EncodedString())")
        }
        let body = try JSON.decode(JSONValue.self, from: Data(posts[0].body.utf8))
        #expect(body["type"] == .string("timepoint.completed"))
        #expect(body["data"]?["timepoint_id"] == .string(made.string("id")))
        #expect(body["data"]?["request_context"]?["job"] == .integer(7))
      }
    }
  }

  @Test func privateAndPlainAddressesAreRefused() throws {
    let rules = try CallbackRules(Settings(["CALLBACK_SECRET": Self.secret]))
    for url in [
      "http://example.com/a", "ftp://example.com", "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/",
      "https://169.254.169.254/latest", "https://user:word@example.com/", "https://[::ffff:10.0.0.1]/",
      "text", "https://",
    ] {
      #expect(throws: Failure.self, "\(url)") { try rules.url(url) }
    }
    #expect(try rules.url("https://example.com/done?x=1").isAllowedHost == false)
    let unset = try CallbackRules(Settings([:]))
    #expect(throws: Failure.self) { try unset.url("https://example.com/") }
    #expect(throws: StartFailure.self) { try CallbackRules(Settings(["CALLBACK_SECRET": "whsec_short"])) }
    #expect(throws: StartFailure.self) {
      try CallbackRules(Settings(["ENVIRONMENT": "production", "CALLBACK_ALLOWED_HOSTS": "localhost:1"]))
    }
  }

  @Test(arguments: ["192.168.1.1", "fd00::1", "64:ff9b::a00:1", "2002:a00:1::", "0.0.0.0", "224.0.0.1", "100.64.0.1"])
  func aHostThatResolvesToAPrivateAddressGetsNothing(address: String) async throws {
    let hidden = try #require(IPAddress(address))
    let fine = try #require(IPAddress("93.184.216.34"))
    #expect(fine.isPublic && !hidden.isPublic)
    var sender = CallbackSender(
      rules: try CallbackRules(Settings(["CALLBACK_SECRET": Self.secret])), now: { Date() })
    // One of several is enough.
    sender.resolve = { _ in [fine, hidden] }
    await #expect(throws: (any Error).self) {
      try await sender.send(CallbackMessage(url: "https://example.com/", body: "{}"), id: "1")
    }
  }
}
