import Foundation
import Hummingbird

/// Encodes and decodes `application/x-www-form-urlencoded` bodies, and encodes query strings.
package enum URLEncodedForm {
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  package static func encode(_ fields: [(name: String, value: String)]) -> String {
    fields.map { field in
      "\(field.name)=\(field.value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")"
    }.joined(separator: "&")
  }

  /// The fields of a body, without those that have an empty name or value.
  package static func decode(_ body: String) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in body.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map {
        $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
      }
      if parts.count == 2 { fields[parts[0]] = parts[1] }
    }
    return fields
  }
}

extension Request {
  /// Whether the body is `application/x-www-form-urlencoded`.
  package var isForm: Bool {
    headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
  }

  /// The fields of a form, at most 64 KB of them.
  package func form() async throws -> [String: String] {
    var copy = self
    return URLEncodedForm.decode(String(buffer: try await copy.bufferBody()))
  }
}
