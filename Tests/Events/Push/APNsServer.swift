import Crypto
import Foundation
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import Support
import Synchronization
import Tokens
import Wire

/// A stand-in for APNs on loopback: HTTP/2 over TLS, with the checks of headers, payloads and provider tokens that
/// Apple documents.
final class APNsServer: Sendable {
  static let team = "TEAM123456"
  static let keyID = "KEY1234567"
  static let topic = "com.example.kith"

  /// A notification that was accepted.
  struct Notification: Sendable {
    let id: String
    let token: String
    let connection: Int
    let headers: [String: String]
    let payload: JSONValue
    let issuedAt: Int

    var aps: JSONValue? { payload["aps"] }
    var text: String? {
      guard case .string(let body) = aps?["alert"]?["body"] else { return nil }
      return body
    }
  }

  /// How it answers instead of accepting.
  struct Answer: Sendable {
    let status: Int
    let reason: String
    var timestamp: Int?
    var retryAfterSeconds: Int?
    /// What happens to the connection afterwards, or instead.
    var end: ConnectionEnd?
    var delay: TimeAmount?

    /// Accepts the notification, unless no answer comes.
    static func end(_ end: ConnectionEnd) -> Answer { Answer(status: 200, reason: "", end: end) }
  }

  enum ConnectionEnd: Sendable {
    case goAway, close
    /// `SETTINGS_MAX_CONCURRENT_STREAMS` is 1 from now on.
    case oneStream
    /// As soon as the client has the answer and no other stream, ten are allowed, and then as many as before.
    case settingsWhenIdle
    /// `RST_STREAM`, the end of the connection, or a `GOAWAY` for streams that are not worked on: no answer comes.
    case reset, closeWithoutAnswer, goAwayWithoutAnswer

    var isAnswered: Bool { ![.reset, .closeWithoutAnswer, .goAwayWithoutAnswer].contains(self) }
  }

  private struct State {
    /// By device token: those to come, in order, and the one of all others.
    var answers: [String: [Answer]] = [:]
    var permanent: [String: Answer] = [:]
    var accepted: [Notification] = []
    var ids: Set<String> = []
    var doubles = 0
    var requestCount = 0
    var refused: [String] = []
    var connectionCount = 0
    var issuedAt: Int?
    var tokenChanges: [Int] = []
    var streamsOpen = 0
    var streamsMaxSeen = 0
    /// GOAWAY after so many further requests.
    var goAwayAfter: Int?
  }

  private let key = Mutex(P256.Signing.PrivateKey())
  private let state = Mutex(State())
  private let channel: Mutex<(any Channel)?> = Mutex(nil)
  private let clockBox = Mutex<TestClock?>(nil)
  private let folder: String

  init(folder: String) { self.folder = folder }

  /// The clock by which provider tokens expire.
  var clock: TestClock? {
    get { clockBox.withLock { $0 } }
    set { clockBox.withLock { $0 = newValue } }
  }

  var accepted: [Notification] { state.withLock { $0.accepted } }
  /// How often an id was accepted again.
  var doubles: Int { state.withLock { $0.doubles } }
  var requestCount: Int { state.withLock { $0.requestCount } }
  /// The reasons of refusals, in order.
  var refusals: [String] { state.withLock { $0.refused } }
  var connectionCount: Int { state.withLock { $0.connectionCount } }
  var streamsMaxSeen: Int { state.withLock { $0.streamsMaxSeen } }

  /// The answers to the next requests for a device, one after the other.
  func answer(_ answers: Answer..., to token: String) { state.withLock { $0.answers[token] = answers } }
  func answerAlways(_ answer: Answer?, to token: String) { state.withLock { $0.permanent[token] = answer } }
  func goAway(after count: Int) { state.withLock { $0.goAwayAfter = count } }

  /// - Parameter sandbox: the server for devices of apps in development; it verifies with the same key.
  func settings(sandbox: APNsServer? = nil) throws -> [String: String] {
    let key = key.withLock { $0 }
    sandbox?.key.withLock { $0 = key }
    return [
      "APNS_TEAM_ID": Self.team, "APNS_KEY_ID": Self.keyID, "APNS_PRIVATE_KEY": key.pemRepresentation,
      "APNS_TOPIC": Self.topic, "APNS_URL": try url, "APNS_SANDBOX_URL": try sandbox?.url ?? url,
      "TLS_EXTRA_ROOTS": folder + "/certificate.pem",
    ]
  }

  var url: String {
    get throws {
      guard let port = channel.withLock({ $0?.localAddress?.port }) else { throw Unexpected(reply: "not listening") }
      return "https://localhost:\(port)"
    }
  }

  func start() async throws {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(folder + "/certificate.pem").map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: folder + "/key.pem", format: .pem)))
    tls.applicationProtocols = ["h2"]
    let context = try NIOSSLContext(configuration: tls)
    let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture {
          let number = state.withLock { state in
            state.connectionCount += 1
            return state.connectionCount
          }
          try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
          // One stream until the first request is answered, as of Apple.
          var configuration = NIOHTTP2Handler.ConnectionConfiguration()
          configuration.initialSettings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 1)]
          let raised = Flag()
          _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: configuration, streamConfiguration: .init()
          ) { stream in
            stream.eventLoop.makeCompletedFuture {
              try stream.pipeline.syncOperations.addHandlers([
                APNsRequestHandler(server: self, connection: number, raised: raised)
              ])
            }
          }
        }
      }.bind(host: "127.0.0.1", port: 0).get()
    channel.withLock { $0 = bound }
  }

  var publicKey: P256.Signing.PublicKey { key.withLock { $0.publicKey } }
  var privateKeyPEM: String { key.withLock { $0.pemRepresentation } }

  /// Whether the provider token was changed within twenty minutes.
  func isTooEarly(_ issuedAt: Int) -> Bool {
    state.withLock { state in
      defer { state.issuedAt = issuedAt }
      guard let last = state.issuedAt, last != issuedAt else { return false }
      return issuedAt - last < 1200
    }
  }

  func stop() async throws { try await channel.withLock { $0 }?.close() }

  func streamOpened() {
    state.withLock { state in
      state.streamsOpen += 1
      state.streamsMaxSeen = max(state.streamsMaxSeen, state.streamsOpen)
    }
  }

  func streamClosed() { state.withLock { $0.streamsOpen -= 1 } }

  /// The answer to a request; nil when it is accepted.
  func answer(to request: APNsRequest, on connection: Int) -> Answer? {
    let refusal = refusal(of: request)
    let token = request.deviceToken
    return state.withLock { state in
      state.requestCount += 1
      var answer = refusal
      if answer == nil, var scripted = state.answers[token], !scripted.isEmpty {
        answer = scripted.removeFirst()
        state.answers[token] = scripted
      }
      answer = answer ?? state.permanent[token]
      if answer == nil, let left = state.goAwayAfter {
        state.goAwayAfter = left > 1 ? left - 1 : nil
        if left == 1 { answer = .end(.goAway) }
      }
      if let answer, answer.status != 200 {
        state.refused.append(answer.reason)
        return answer
      }
      if answer?.end?.isAnswered ?? true { accept(request, on: connection, &state) }
      return answer
    }
  }

  private func accept(_ request: APNsRequest, on connection: Int, _ state: inout State) {
    let id = request.first("apns-id") ?? UUID().uuidString.lowercased()
    guard state.ids.insert(id).inserted else { return state.doubles += 1 }
    state.accepted.append(
      Notification(
        id: id, token: request.deviceToken, connection: connection,
        headers: Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 },
        payload: (try? JSON.decode(JSONValue.self, from: request.body)) ?? .null, issuedAt: state.issuedAt ?? 0))
  }
}
