import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Web
import Wire

/// What the request for a socket says.
struct Handshake: Sendable {
  let version: PhoenixVersion
  /// What may be an access token, for joins without one.
  let token: String?
  let address: String

  /// - Throws: ``HandshakeRefusal``.
  init(_ head: HTTPRequestHead, from peer: String, trusting keys: ServiceKeys) throws(HandshakeRefusal) {
    guard let components = URLComponents(string: head.uri), components.path == SocketUpgrade.path else {
      throw .notFound
    }
    let query = components.queryItems ?? []
    func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
    // A client that does not say so speaks version 1.
    guard let version = PhoenixVersion(rawValue: value("vsn") ?? PhoenixVersion.v1.rawValue) else { throw .version }
    self.version = version
    let bearer = head.headers.first(name: "authorization").flatMap { text -> String? in
      text.lowercased().hasPrefix("bearer ") ? String(text.dropFirst(7)) : nil
    }
    token = [bearer, value("apikey"), head.headers.first(name: "apikey")].compactMap(\.self).first {
      $0.split(separator: ".", omittingEmptySubsequences: false).count == 3
    }
    let service = head.headers.first(name: Header.serviceKey).flatMap { keys.service(presenting: $0) }
    let forwarded = head.headers.last(where: { $0.name.lowercased() == "x-forwarded-for" })?.value
      .split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
    address = service?.isGateway == true ? forwarded ?? peer : peer
  }
}

/// Why a request for a socket is answered without one, in the form that the clients' servers use.
struct HandshakeRefusal: Error, Sendable {
  let status: HTTPResponseStatus
  let message: String
  var metric = EventMetrics.Refusal.malformed

  var body: String { #"{"error":\#(PhoenixFrame.quoted(message))}"# }

  static let notFound = HandshakeRefusal(status: .notFound, message: "There is nothing here")
  static let noUpgrade = HandshakeRefusal(status: .upgradeRequired, message: "This path is for WebSockets")
  static let version = HandshakeRefusal(status: .badRequest, message: "vsn must be 1.0.0 or 2.0.0")
  static let tooMany = HandshakeRefusal(
    status: .tooManyRequests, message: "Too many connected users", metric: .address)
  static let stopping = HandshakeRefusal(
    status: .serviceUnavailable, message: "Realtime is restarting", metric: .draining)
}
