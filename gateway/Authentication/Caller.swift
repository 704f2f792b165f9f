import Wire

/// The authenticated caller of a request, with the header lines that name it to services.
final class Caller: Sendable {
  let user: UserID?
  /// The name of the external system that presented its service key; its requests are not rate limited.
  let service: String?
  /// Header lines, each with its CRLF.
  let headerLines: [UInt8]

  init(user: UserID? = nil, session: SessionID? = nil, service: String? = nil) {
    self.user = user
    self.service = service
    var lines = ""
    if let user { lines += "\(Header.userID): \(user)\r\n" }
    if let session { lines += "\(Header.sessionID): \(session)\r\n" }
    if let service { lines += "\(Header.serviceName): \(service)\r\n" }
    headerLines = Array(lines.utf8)
  }

  static let anonymous = Caller()
}
