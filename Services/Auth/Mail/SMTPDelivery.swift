import CCurl
import Foundation

/// The delivery of one message by libcurl, which implements SMTP, STARTTLS and SASL, and stuffs dots.
struct SMTPDelivery: Sendable {
  let server: SMTPServer
  let from: EmailAddress
  let to: EmailAddress
  let message: [UInt8]
  let timeout: Duration
  let isCancelled: @Sendable () -> Bool

  // Initialised once for the process, before any thread uses libcurl.
  private static let isInitialised = kith_curl_start() == CURLE_OK

  /// Blocks its thread until the server has accepted or rejected the message, or until the timeout.
  ///
  /// - Throws: ``MailFailure``; `CancellationError` when the delivery was cancelled.
  func run() throws {
    guard Self.isInitialised, let curl = curl_easy_init() else { throw MailFailure(.unreachable) }
    defer { curl_easy_cleanup(curl) }
    let recipients = curl_slist_append(nil, "<\(to.canonical)>")
    defer { curl_slist_free_all(recipients) }
    let end = ContinuousClock.now + timeout + .seconds(1)
    let reader = MessageReader(message) { isCancelled() || ContinuousClock.now > end }
    try withExtendedLifetime(reader) {
      try setUp(curl, recipients)
      try reader.attach(to: curl)
      let result = curl_easy_perform(curl)
      guard result != CURLE_OK else { return }
      var code = 0
      kith_curl_response_code(curl, &code)
      throw isCancelled() ? CancellationError() : Self.failure(result, code)
    }
  }

  private func setUp(_ curl: UnsafeMutableRawPointer, _ recipients: UnsafeMutablePointer<curl_slist>?) throws {
    let scheme = server.security == .implicit ? "smtps" : "smtp"
    let milliseconds = Int(timeout / .milliseconds(1))
    // libcurl takes the name for EHLO from the path.
    try text(curl, CURLOPT_URL, "\(scheme)://\(server.host):\(server.port)/\(from.domain)")
    try number(curl, CURLOPT_USE_SSL, Int(server.security.level.rawValue))
    try number(curl, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    try number(curl, CURLOPT_SSL_VERIFYPEER, 1)
    try number(curl, CURLOPT_SSL_VERIFYHOST, 2)
    if let authorities = server.authorities { try text(curl, CURLOPT_CAINFO, authorities) }
    if let (user, password) = server.credentials {
      try text(curl, CURLOPT_USERNAME, user)
      try text(curl, CURLOPT_PASSWORD, password)
    }
    try text(curl, CURLOPT_MAIL_FROM, "<\(from.canonical)>")
    try check(kith_curl_set_list(curl, CURLOPT_MAIL_RCPT, recipients))
    try number(curl, CURLOPT_UPLOAD, 1)
    try check(kith_curl_set_size(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(message.count)))
    try number(curl, CURLOPT_CONNECTTIMEOUT_MS, min(10_000, milliseconds))
    try number(curl, CURLOPT_TIMEOUT_MS, milliseconds)
    // That timeout does not apply to QUIT, for which libcurl would wait for two minutes, nor to connections that it
    // keeps.
    try number(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, min(30, max(1, milliseconds / 1000)))
    try number(curl, CURLOPT_FORBID_REUSE, 1)
    // No signals for timeouts, as they would affect the whole process; and no proxy from the environment.
    try number(curl, CURLOPT_NOSIGNAL, 1)
    try text(curl, CURLOPT_PROXY, "")
  }

  private func text(_ curl: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String) throws {
    try check(kith_curl_set_text(curl, option, value))
  }

  private func number(_ curl: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) throws {
    try check(kith_curl_set_number(curl, option, value))
  }

  /// An option that this libcurl does not support must not be ignored: it may be the verification of certificates.
  private func check(_ code: CURLcode) throws {
    guard code == CURLE_OK else { throw CurlFailure(code: code.rawValue) }
  }

  /// - Parameter code: the server's last reply code, 0 without any.
  private static func failure(_ result: CURLcode, _ code: Int) -> MailFailure {
    switch (result, code) {
    case (CURLE_PEER_FAILED_VERIFICATION, _), (CURLE_SSL_CACERT_BADFILE, _), (CURLE_SSL_CONNECT_ERROR, _),
      (CURLE_USE_SSL_FAILED, _):
      MailFailure(.untrusted)
    case (_, 400..<500): MailFailure(.delayed, code: code)
    case (CURLE_LOGIN_DENIED, _), (_, 530), (_, 534), (_, 535): MailFailure(.credentials, code: code)
    case (_, 500..<600): MailFailure(.refused, code: code)
    default: MailFailure(.unreachable)
    }
  }
}

/// An option that this libcurl does not support.
struct CurlFailure: Error {
  let code: UInt32
}

extension SMTPServer.Security {
  fileprivate var level: curl_usessl { self == .none ? CURLUSESSL_NONE : CURLUSESSL_ALL }
}

/// Gives the message to libcurl in pieces, on one thread.
private final class MessageReader {
  private let message: [UInt8]
  private let shouldAbort: () -> Bool
  private var position = 0

  /// - Parameter shouldAbort: called about once a second; true ends the transfer.
  init(_ message: [UInt8], shouldAbort: @escaping () -> Bool) {
    self.message = message
    self.shouldAbort = shouldAbort
  }

  /// Sets the callbacks. libcurl keeps an unretained pointer to this object.
  func attach(to curl: UnsafeMutableRawPointer) throws {
    let context = Unmanaged.passUnretained(self).toOpaque()
    let reading = kith_curl_set_reader(
      curl,
      { into, size, count, context in
        guard let into, let context else { return 0 }
        return Unmanaged<MessageReader>.fromOpaque(context).takeUnretainedValue().read(into, size * count)
      }, context)
    let watching = kith_curl_set_watcher(
      curl,
      { context, _, _, _, _ in
        guard let context else { return 0 }
        return Unmanaged<MessageReader>.fromOpaque(context).takeUnretainedValue().shouldAbort() ? 1 : 0
      }, context)
    guard reading == CURLE_OK, watching == CURLE_OK else { throw CurlFailure(code: reading.rawValue) }
  }

  private func read(_ into: UnsafeMutablePointer<CChar>, _ room: Int) -> Int {
    let piece = message[position..<min(message.count, position + room)]
    piece.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: into, count: room).copyMemory(from: $0) }
    position += piece.count
    return piece.count
  }
}
