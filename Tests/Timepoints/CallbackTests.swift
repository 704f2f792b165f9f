import Crypto
import Database
import Foundation
import Hummingbird
import Outbox
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Timepoints

/// The end of a generation is posted to the address that came with its request, and to no private one.
@Suite struct CallbackTests {
  private static let key = Data(repeating: 7, count: 32)
  static let secret = "whsec_\(key.base64EncodedString())"

  /// What was posted. `/done` is answered with 500 at first, `/broken` always, `/moved` with a redirect to `/done`, and
  /// `/gone` with 410.
  private final class Receiver: Sendable {
    struct Post: Sendable {
      let path: String
      let headers: [String: String]
      let body: String
    }

    private let all = Mutex<[Post]>([])
    let listening = ListeningPort()

    func posts(to path: String) -> [Post] { all.withLock { $0.filter { $0.path == path } } }

    func server() -> some ApplicationProtocol {
      let router = Router()
      router.post("/:what") { [self] request, context -> Response in
        let body = String(buffer: try await request.body.collect(upTo: 100_000))
        let headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { $1 }
        let path = context.parameters.get("what") ?? ""
        all.withLock { $0.append(Post(path: path, headers: headers, body: body)) }
        switch path {
        case "done": return Response(status: posts(to: path).count == 1 ? .internalServerError : .ok)
        case "moved": return Response(status: .found, headers: [.location: "/done"])
        case "gone": return Response(status: .gone)
        default: return Response(status: .internalServerError)
        }
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
        // In short steps, as whoever verifies a signature does not accept one from the future.
        try await eventually("the second post", passing: .seconds(1), on: stack.clock) {
          try await stack.count("outbox where lease is not null", in: "timepoints")
        } _: {
          receiver.posts(to: "done").count >= 2
        }
        let posts = receiver.posts(to: "done")
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
        try await expectAnotherImplementationAgrees(posts)
      }
    }
  }

  /// The library that the authors of the standard publish.
  private func expectAnotherImplementationAgrees(_ posts: [Receiver.Post]) async throws {
    guard Python.isAvailable else { return }
    let program = """
      import json
      from standardwebhooks.webhooks import Webhook, WebhookVerificationError
      given = json.load(sys.stdin)
      webhook = Webhook(given["secret"])
      for post in given["posts"]:
          print(webhook.verify(post["body"], post["headers"])["type"])
          try:
              webhook.verify(post["body"] + " ", post["headers"])
              sys.exit("another body was accepted")
          except WebhookVerificationError:
              pass
      """
    let given: [String: Any] = [
      "secret": Self.secret, "posts": posts.map { ["body": $0.body, "headers": $0.headers] as [String: Any] },
    ]
    let input = String(decoding: try JSONSerialization.data(withJSONObject: given), as: UTF8.self)
    let printed = try await Python.run(program, input: input)
    #expect(printed.split(separator: "\n") == posts.map { _ in "timepoint.completed" }, "\(printed)")
  }

  @Test(arguments: engines) func itIsRepeatedForAnHourAndGoesToNoOtherAddress(_ engine: Engine) async throws {
    let receiver = Receiver()
    try await running([receiver.server()]) {
      let host = "127.0.0.1:\(try await receiver.listening.number)"
      let settings = ["CALLBACK_SECRET": Self.secret, "CALLBACK_ALLOWED_HOSTS": host]
      try await withStack(engine, settings) { stack in
        let alice = try await stack.signIn("alice")
        for path in ["broken", "moved", "gone"] {
          #expect(try await alice.generate("Apollo 11", ["callback_url": "http://\(host)/\(path)"]).status == 200)
        }
        let started = stack.clock.now
        try await eventually("the end of all callbacks") {
          // Not while one is posted either: its lease would end, and it would be posted once more.
          let due: SQL = "outbox where due_at <= \(stack.clock.now) or lease is not null"
          if try await stack.count(due, in: "timepoints") == 0 { stack.clock.advance(by: .seconds(60)) }
          return try await stack.count("outbox where settled_at is null", in: "timepoints") == 0
        }
        let hours = stack.clock.now.timeIntervalSince(started) / 3600
        // A try every fifteen minutes or so, until the next one would come after an hour.
        #expect(hours > 0.6)
        for path in ["broken", "moved"] { #expect((6...16).contains(receiver.posts(to: path).count), "\(path)") }
        #expect(receiver.posts(to: "gone").count == 1)
        #expect(receiver.posts(to: "done").isEmpty)
        let ids = ["broken", "moved"].flatMap { receiver.posts(to: $0) }.compactMap { $0.headers["webhook-id"] }
        #expect(Set(ids).count == 2)
      }
    }
  }

  @Test func privateAndPlainAddressesAreRefused() throws {
    let rules = try CallbackRules(Settings(["CALLBACK_SECRET": Self.secret]))
    for url in [
      "http://example.com/a", "ftp://example.com", "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/",
      "https://169.254.169.254/latest", "https://user:word@example.com/", "https://[::ffff:10.0.0.1]/",
      "text", "https://", "https://ex%61mple.com/", "https://example.com%2f@localhost/", "https://b\u{fc}cher.example/",
      "https://127.0.0.1%09/", "https://example.com#@localhost/",
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

  /// Other ways to write an address of this machine, and a name that means it: the resolver is the real one.
  @Test(arguments: ["localhost", "LOCALHOST", "2130706433", "127.1", "0x7f.1", "0", "[::ffff:127.0.0.1]"])
  func thisMachineIsNeverAsked(host: String) async throws {
    let receiver = Receiver()
    try await running([receiver.server()]) {
      let rules = try CallbackRules(Settings(["CALLBACK_SECRET": Self.secret]))
      let sender = CallbackSender(rules: rules, now: { Date() })
      let url = "https://\(host):\(try await receiver.listening.number)/done"
      await #expect(throws: Undeliverable.self) {
        try await sender.send(CallbackMessage(url: url, body: "{}"), id: "1")
      }
    }
  }
}
