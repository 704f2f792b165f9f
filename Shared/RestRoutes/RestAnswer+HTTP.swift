import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import RestQueries
import Tokens

extension HTTPField.Name {
  // `!`: the names are constants that are valid tokens.
  static let prefer = Self("prefer")!
  static let rangeUnit = Self("range-unit")!
  static let acceptProfile = Self("accept-profile")!
  static let contentProfile = Self("content-profile")!
  static let proxyStatus = Self("proxy-status")!
}

extension Response {
  package init(_ answer: RestAnswer) {
    var headers = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
    if !answer.body.isEmpty { headers[.contentLength] = String(answer.body.count) }
    self.init(
      status: .init(code: answer.status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
  }
}

extension RestAnswer {
  /// Of the body and of the place of its rows among all rows.
  var entityTag: String {
    var hash = SHA256()
    hash.update(data: body)
    hash.update(data: Array((header("content-range") ?? "").utf8))
    let digest = hash.finalize().withUnsafeBytes { Base64URL.encode(UnsafeRawBufferPointer(rebasing: $0.prefix(12))) }
    return "\"\(digest)\""
  }
}

extension RestRequest {
  var isRead: Bool { method == .get || method == .head }

  /// Whether its body has a meaning.
  var hasBody: Bool { !isRead && method != .delete }
}
