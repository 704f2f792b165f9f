import Wire

/// As whom a request goes on to its service: what the gateway found out, and the words in which it says so.
final class Caller: Sendable {
  let user: UserID?
  /// An outside system that showed its key; it is not limited.
  let service: String?
  /// Header lines, ready to be sent.
  let lines: [UInt8]

  init(user: UserID? = nil, session: SessionID? = nil, service: String? = nil) {
    self.user = user
    self.service = service
    var lines = ""
    if let user { lines += "\(Header.userID): \(user)\r\n" }
    if let session { lines += "\(Header.sessionID): \(session)\r\n" }
    if let service { lines += "\(Header.serviceName): \(service)\r\n" }
    self.lines = Array(lines.utf8)
  }

  static let anonymous = Caller()
}
