import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A fake SMTP server on loopback (RFC 5321) that records messages, and fails on demand.
package final class MailServer: Sendable {
  package static let user = "kith"
  package static let password = "a p@ssword: for/tests"
  package static let sender = "Kith <hello@kith.example>"

  /// Whether and how it uses TLS.
  package enum Security: Sendable {
    case none
    case startTLS(folder: String)
    case implicit(folder: String)
  }

  /// What it does instead of its normal reply to a command; `CONNECT` is the greeting, `.` the end of the message.
  package enum Behavior: Sendable {
    case replies(String, to: String)
    case hangs(at: String)
    case closesConnection(at: String)

    var verb: String {
      switch self {
      case .replies(_, let verb), .hangs(let verb), .closesConnection(let verb): verb
      }
    }
  }

  private struct State {
    var messages: [ReceivedMail] = []
    var connections = 0
    var pendingBehaviors: [Behavior] = []
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

  package var messages: [ReceivedMail] { state.withLock { $0.messages } }
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

  /// Sets the behavior for the next `times` that its command occurs.
  package func next(_ behavior: Behavior, times: Int = 1) {
    state.withLock { $0.pendingBehaviors += Array(repeating: behavior, count: times) }
  }

  func behavior(at verb: String) -> Behavior? {
    state.withLock { state in
      guard let index = state.pendingBehaviors.firstIndex(where: { $0.verb == verb }) else { return nil }
      return state.pendingBehaviors.remove(at: index)
    }
  }

  func received(_ message: ReceivedMail) { state.withLock { $0.messages.append(message) } }

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
          try channel.pipeline.syncOperations.addHandler(SMTPSession(with: self))
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

  fileprivate func closeConnections() {
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
  server.closeConnections()
  return try result.get()
}
