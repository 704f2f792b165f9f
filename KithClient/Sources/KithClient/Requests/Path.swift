import Foundation

/// A path whose interpolated values are escaped, so that an id from outside can name nothing else.
struct Path: ExpressibleByStringInterpolation, Sendable {
  let text: String

  /// - Parameter segments: each is escaped.
  init(segments: [some StringProtocol]) { text = segments.map { "/" + Self.segment(String($0)) }.joined() }
  init(stringLiteral value: String) { text = value }
  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {}
    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      text += Path.segment(value.description)
    }
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// A colon stays (RFC 3986 §3.3): ids of models have them, and not every server decodes its paths.
  private static func segment(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved.union(CharacterSet(charactersIn: ":"))) ?? ""
  }

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}
