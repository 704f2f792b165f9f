/// What a database refused, in words that are the same on both engines.
package enum DatabaseFailure: Error, Hashable, Sendable {
  /// A unique index refused; its name.
  case unique(String)
  /// A CHECK refused; its name.
  case check(String)
  case foreignKey
  case notNull(column: String)
  /// A trigger refused; its message.
  case refused(String)
  /// The transaction lost against others as often as we were ready to try.
  case contended
  /// No connection, or no answer: nothing was changed.
  case unavailable(String)
  /// The connection broke while committing: the change may or may not be there.
  case outcomeUnknown
  /// The disk is full, or the file cannot be written.
  case full(String)
  /// Text with a NUL character, which PostgreSQL cannot hold.
  case nulInText
  /// A result that is not what the code expects.
  case unreadable(column: String)
  /// The file or the schema is not usable; the start must stop.
  case unusable(String)
  /// Anything else, in the engine's words.
  case other(String)

  /// Whether the request may succeed later as it is.
  package var isPassing: Bool {
    switch self {
    case .contended, .unavailable, .outcomeUnknown, .full: true
    default: false
    }
  }
}
