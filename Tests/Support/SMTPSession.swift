import Foundation
import NIOCore
import NIOSSL

/// The server side of one SMTP connection to a ``MailServer``.
final class SMTPSession: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Expecting { case command, credentials, message }

  private let server: MailServer
  private var bytes: [UInt8] = []
  private var expecting = Expecting.command
  private var isEncrypted: Bool
  private var isHanging = false
  private var user: String?
  private var message = ReceivedMail()
  private var greeting = ""

  init(with server: MailServer) {
    self.server = server
    if case .implicit = server.security { isEncrypted = true } else { isEncrypted = false }
  }

  func channelActive(context: ChannelHandlerContext) {
    if !appliesBehavior(at: "CONNECT", context) { reply("220 localhost ESMTP", context) }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += Array(buffer: unwrapInboundIn(data))
    while !isHanging, let end = bytes.firstIndex(of: 0x0A) {
      let line = String(decoding: bytes[..<end], as: UTF8.self)
      bytes.removeSubrange(...end)
      // A server need not accept lines that end with a bare line feed.
      guard line.utf8.last == 0x0D else { return reply("500 lines end with CRLF", context) }
      read(String(decoding: line.utf8.dropLast(), as: UTF8.self), context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func read(_ line: String, _ context: ChannelHandlerContext) {
    switch expecting {
    case .command: execute(line, context)
    case .credentials: signIn(line, context)
    case .message where line == ".":
      expecting = .command
      guard !appliesBehavior(at: ".", context) else { return }
      server.received(message)
      reply("250 2.0.0 taken", context)
    case .message: message.source += (line.hasPrefix(".") ? String(line.dropFirst()) : line) + "\r\n"
    }
  }

  private func execute(_ line: String, _ context: ChannelHandlerContext) {
    let verb = line.prefix { $0 != " " }.uppercased()
    guard !appliesBehavior(at: verb, context) else { return }
    switch verb {
    case "EHLO", "HELO":
      greeting = String(line.dropFirst(5))
      reply(extensions.joined(separator: "\r\n"), context)
    case "STARTTLS": startTLS(context)
    case "AUTH" where server.needsUser:
      let response = line.split(separator: " ").dropFirst(2).first
      expecting = .credentials
      if let response { signIn(String(response), context) } else { reply("334 ", context) }
    case "MAIL" where server.needsUser && user == nil: reply("530 5.7.0 sign in first", context)
    case "MAIL":
      message = ReceivedMail(isEncrypted: isEncrypted, user: user, greeting: greeting, from: Self.address(in: line))
      reply("250 2.1.0 ok", context)
    case "RCPT":
      message.to.append(Self.address(in: line))
      reply("250 2.1.5 ok", context)
    case "DATA":
      expecting = .message
      reply("354 go ahead", context)
    case "QUIT":
      reply("221 bye", context)
      context.close(promise: nil)
    case "RSET", "NOOP": reply("250 ok", context)
    default: reply("502 5.5.1 unknown", context)
    }
  }

  private var extensions: [String] {
    var lines = ["250-localhost", "250-8BITMIME"]
    if server.tls != nil, !isEncrypted { lines.append("250-STARTTLS") }
    if server.needsUser { lines.append("250-AUTH PLAIN") }
    return lines + ["250 ENHANCEDSTATUSCODES"]
  }

  private func startTLS(_ context: ChannelHandlerContext) {
    guard let tls = server.tls, !isEncrypted else { return reply("502 5.5.1 not here", context) }
    reply("220 2.0.0 go ahead", context)
    // Bytes received before TLS are discarded (RFC 3207 §4.2).
    bytes = []
    isEncrypted = true
    do {
      try context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls), position: .first)
    } catch {
      context.close(promise: nil)
    }
  }

  /// SASL's PLAIN (RFC 4616): an empty identity, the user and the password, with NULs between them.
  private func signIn(_ line: String, _ context: ChannelHandlerContext) {
    expecting = .command
    let expected = "\0\(MailServer.user)\0\(MailServer.password)"
    guard Data(base64Encoded: line) == Data(expected.utf8) else { return reply("535 5.7.8 no", context) }
    user = MailServer.user
    reply("235 2.7.0 welcome", context)
  }

  /// Applies the behavior that a test has set for a command, if any.
  private func appliesBehavior(at verb: String, _ context: ChannelHandlerContext) -> Bool {
    switch server.behavior(at: verb) {
    case .replies(let line, _): reply(line, context)
    case .hangs: isHanging = true
    case .closesConnection: context.close(promise: nil)
    case nil: return false
    }
    return true
  }

  private func reply(_ line: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: line + "\r\n")), promise: nil)
  }

  private static func address(in line: String) -> String {
    String(line.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
  }
}
