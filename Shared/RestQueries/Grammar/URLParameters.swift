import Foundation

/// The names and values of a URL's query, in their order, decoded.
struct URLParameters {
  let all: [(name: String, value: String)]

  /// - Throws: ``RestFailure`` for escapes that are not UTF-8, and for a query that is too long.
  init(_ text: some StringProtocol) throws {
    guard text.utf8.count <= QueryBounds.textBytesMax else {
      throw RestFailure.tooMuch("bytes", max: QueryBounds.textBytesMax)
    }
    all = try text.split(separator: "&").compactMap { part in
      guard let equals = part.firstIndex(of: "=") else { return nil }
      return (try Self.decoded(part[..<equals]), try Self.decoded(part[equals...].dropFirst()))
    }
  }

  /// A plus is a space, as in forms.
  private static func decoded(_ text: some StringProtocol) throws -> String {
    let spaced = String(text).replacing("+", with: " ")
    guard let decoded = spaced.removingPercentEncoding else {
      throw RestFailure.unparsable("query", String(text), column: 1, "expecting percent-encoded UTF-8")
    }
    guard !decoded.utf8.contains(0) else { throw RestFailure.nulInText }
    return decoded
  }
}
