import Foundation

@testable import KithClient

/// A transport that answers by a function, and remembers what it was sent.
///
/// `@unchecked Sendable`: `sent` is only used under the lock.
final class ScriptedTransport: Transport, @unchecked Sendable {
  typealias Answer = @Sendable (HTTPRequest, _ count: Int) throws -> HTTPResponse

  private let answer: Answer
  private let lock = NSLock()
  private var sent: [HTTPRequest] = []

  var requests: [HTTPRequest] { lock.withLock { sent } }

  init(_ answer: @escaping Answer) { self.answer = answer }

  func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
    let count = lock.withLock {
      sent.append(request)
      return sent.count
    }
    let response = try answer(request, count)
    let (body, chunks) = AsyncThrowingStream<Data, any Error>.makeStream()
    chunks.yield(response.body)
    chunks.finish()
    return HTTPStream(head: response.head, body: body)
  }
}

extension HTTPResponse {
  static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> HTTPResponse {
    HTTPResponse(head: .init(status: status, headers: headers), body: Data(text.utf8))
  }

  static func refusal(_ status: Int, _ code: String, headers: [String: String] = [:]) -> HTTPResponse {
    json(#"{"code":"\#(code)","message":"No.","detail":"No."}"#, status: status, headers: headers)
  }
}

/// The waits of a client in a test.
///
/// `@unchecked Sendable`: `all` is only used under the lock.
final class Waits: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [Duration] = []

  var seconds: [Double] { lock.withLock { all.map(\.seconds) } }

  func add(_ wait: Duration) { lock.withLock { all.append(wait) } }
}

extension URL {
  static let server = URL(string: "https://api.example.com") ?? URL(fileURLWithPath: "/")

  /// A file that nobody else has.
  static var temporaryFile: URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)/state.json")
  }
}

extension KithClient {
  /// A client that is signed in for an hour, and does not wait.
  static func scripted(
    waits: Waits = Waits(), isSignedIn: Bool = true, _ answer: @escaping ScriptedTransport.Answer
  ) async throws -> (KithClient, ScriptedTransport) {
    let transport = ScriptedTransport(answer)
    var retries = RetryPolicy()
    retries.jitter = { 1 }
    retries.sleep = { waits.add($0) }
    retries.now = { Date(timeIntervalSince1970: 1_800_000_000) }
    let client = KithClient(baseURL: .server, tokens: MemoryTokenStore(), retries: retries, transport: transport)
    if isSignedIn {
      try await client.auth.sessions.start(TokenPair(accessToken: "a.b.c", refreshToken: "r", expiresIn: 3600))
    }
    return (client, transport)
  }
}
