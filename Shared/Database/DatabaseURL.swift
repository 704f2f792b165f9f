import Foundation

/// A service's database as `DATABASE_URL` names it.
package enum DatabaseURL: Sendable, Hashable {
  case sqlite(path: String)
  case postgres(url: String)

  /// - Parameters:
  ///   - text: `sqlite:///relative.db`, `sqlite:////absolute.db`, a folder with a trailing slash for a file per
  ///     service, `postgres://…` or `postgresql://…`. Suffixes of Python's drivers (`+aiosqlite`, `+asyncpg`) are
  ///     ignored.
  ///   - service: the name of the file within a folder.
  /// - Throws: ``DatabaseFailure/unusable`` for anything else.
  package init(_ text: String, service: String) throws {
    guard let colon = text.range(of: "://") else {
      guard text.hasSuffix("/") else { throw Self.unsupported }
      self = .sqlite(path: "\(text)\(service).db")
      return
    }
    let scheme = text[..<colon.lowerBound].split(separator: "+", maxSplits: 1).first.map(String.init) ?? ""
    let rest = String(text[colon.upperBound...])
    switch scheme {
    case "sqlite":
      guard rest.hasPrefix("/"), rest.count > 1 else { throw Self.unsupported }
      let path = String(rest.dropFirst())
      self = .sqlite(path: path.hasSuffix("/") ? "\(path)\(service).db" : path)
    case "postgres", "postgresql":
      self = .postgres(url: "postgresql://\(rest)")
    default:
      throw Self.unsupported
    }
  }

  /// The URL of a PostgreSQL database; nil for a file.
  package var postgres: String? {
    guard case .postgres(let url) = self else { return nil }
    return url
  }

  private static let unsupported = DatabaseFailure.unusable(
    "DATABASE_URL must be sqlite:///file.db, a folder ending in a slash, or postgres://host/name")
}
