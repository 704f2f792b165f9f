import Foundation

/// `application/x-www-form-urlencoded`.
package enum Form {
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  package static func encoded(_ fields: [(name: String, value: String)]) -> String {
    fields.map { field in
      "\(field.name)=\(field.value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")"
    }.joined(separator: "&")
  }
}
