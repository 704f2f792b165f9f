import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A mail server on loopback (RFC 5321): collects what it is sent, and can be told to be in a bad mood.
package final class MailServer: Sendable {
  package static let user = "kith"
  package static let password = "a p@ssword: for/tests"
  package static let sender = "Kith <hello@kith.example>"

  /// How it speaks TLS.
  package enum Security: Sendable {
    case none
    case startTLS(folder: String)
    case implicit(folder: String)
  }

  /// What it does instead, when it comes to a command; `CONNECT` is the greeting, `.` the end of the message.
  package enum Mood: Sendable {
    case says(String, to: String)
    case hangs(at: String)
    case hangsUp(at: String)

    var verb: String {
      switch self {
      case .says(_, let verb), .hangs(let verb), .hangsUp(let verb): verb
      }
    }
  }

  private struct State {
    var letters: [ReceivedLetter] = []
    var connections = 0
    var moods: [Mood] = []
    var port = 0
    var channels: [ObjectIdentifier: any Channel] = [:]
  }

  private let state = Mutex(State())
  let security: Security
  let needsUser: Bool
  let tls: NIOSSLContext?

  fileprivate init(_ security: Security, needsUser: Bool) throws {
    self.security = security
    self.needsUser = needsUser
    tls =
      switch security {
      case .none: nil
      case .startTLS(let folder), .implicit(let folder): try Self.context(folder)
      }
  }

  package var letters: [ReceivedLetter] { state.withLock { $0.letters } }
  package var connections: Int { state.withLock { $0.connections } }
  package var port: Int { state.withLock { $0.port } }

  package var url: String {
    let user = needsUser ? "\(Self.user):a%20p%40ssword%3A%20for%2Ftests@" : ""
    return switch security {
    case .none: "smtp://\(user)127.0.0.1:\(port)"
    case .startTLS: "smtp://\(user)localhost:\(port)?tls=required"
    case .implicit: "smtps://\(user)localhost:\(port)"
    }
  }

  package var settings: [String: String] {
    let own = ["SMTP_URL": url, "MAIL_FROM": Self.sender]
    return switch security {
    case .none: own
    case .startTLS(let folder), .implicit(let folder):
      own.merging(["SMTP_CA": folder + "/certificate.pem"]) { $1 }
    }
  }

  /// The next `times` that it comes to it, it does this.
  package func next(_ mood: Mood, times: Int = 1) {
    state.withLock { $0.moods += Array(repeating: mood, count: times) }
  }

  func mood(at verb: String) -> Mood? {
    state.withLock { state in
      guard let index = state.moods.firstIndex(where: { $0.verb == verb }) else { return nil }
      return state.moods.remove(at: index)
    }
  }

  func took(_ letter: ReceivedLetter) { state.withLock { $0.letters.append(letter) } }

  private static func context(_ folder: String) throws -> NIOSSLContext {
    let chain = try NIOSSLCertificate.fromPEMFile(folder + "/certificate.pem")
    let key = try NIOSSLPrivateKey(file: folder + "/key.pem", format: .pem)
    return try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
  }

  fileprivate func start() async throws -> any Channel {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          self.opened(channel)
          if case .implicit = self.security, let tls = self.tls {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
          }
          try channel.pipeline.syncOperations.addHandler(MailConversation(with: self))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    state.withLock { $0.port = server.localAddress?.port ?? 0 }
    return server
  }

  private func opened(_ channel: any Channel) {
    state.withLock { state in
      state.connections += 1
      state.channels[ObjectIdentifier(channel)] = channel
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
    }
  }

  fileprivate func hangUp() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }
}

package func withMailServer<T>(
  _ security: MailServer.Security = .none, needsUser: Bool = false, _ body: (MailServer) async throws -> T
) async throws -> T {
  let server = try MailServer(security, needsUser: needsUser)
  let channel = try await server.start()
  let result: Result<T, any Error>
  do { result = .success(try await body(server)) } catch { result = .failure(error) }
  try await channel.close()
  server.hangUp()
  return try result.get()
}
