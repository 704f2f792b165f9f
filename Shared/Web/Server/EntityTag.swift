import Hummingbird

/// Parses and compares the entity tags (RFC 9110 §8.8.3) of a request. A tag is a string with its quotes.
package enum EntityTag {
  /// What a header with entity tags may look like.
  package enum Syntax: Sendable {
    /// `*` alone, or tags with their quotes.
    case strict
    /// Also `*` among tags, and tags without quotes; tabs are not trimmed. Apps may rely on it where it was accepted.
    case lenient
  }

  /// The entries of `If-Match` or `If-None-Match`. Lenient entries come without their quotes; weak ones keep `W/` and
  /// the quotes.
  package static func entries(of header: String, _ syntax: Syntax) -> [Substring] {
    let entries = header.split(separator: ",")
    return switch syntax {
    case .strict: entries.map { $0.word(between: [" ", "\t"]) }
    case .lenient: entries.map { $0.word(between: [" "]).unquoted }
    }
  }

  fileprivate static func isIncluded(_ tag: String, inIfNoneMatch header: String, _ syntax: Syntax) -> Bool {
    let entries = entries(of: header, syntax)
    return switch syntax {
    case .strict: header == "*" || entries.contains { $0 == tag || $0 == "W/\(tag)" }
    case .lenient: entries.contains { $0 == "*" || "\"\($0)\"" == tag || $0 == "W/\(tag)" }
    }
  }
}

extension Request {
  /// Whether `If-None-Match` contains the tag (RFC 9110 §13.1.2, weak comparison).
  package func ifNoneMatchIncludes(_ tag: String, _ syntax: EntityTag.Syntax) -> Bool {
    guard let header = headers[.ifNoneMatch] else { return false }
    return EntityTag.isIncluded(tag, inIfNoneMatch: header, syntax)
  }
}

extension Substring {
  /// The text from the first character that is no whitespace to the next whitespace.
  fileprivate func word(between whitespace: Set<Character>) -> Substring {
    drop { whitespace.contains($0) }.prefix { !whitespace.contains($0) }
  }

  fileprivate var unquoted: Substring {
    hasPrefix("\"") && hasSuffix("\"") && count >= 2 ? dropFirst().dropLast() : self
  }
}
