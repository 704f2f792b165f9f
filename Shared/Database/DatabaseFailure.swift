/// Why a statement or transaction failed, in cases that both engines share.
public enum DatabaseFailure: Error, Hashable, Sendable {
  /// A unique index was violated; its name.
  case unique(String)
  /// A CHECK constraint was violated; its name.
  case check(String)
  case foreignKey
  case notNull(column: String)
  /// A trigger raised an error, or a permission is missing; the message.
  case refused(String)
  /// The transaction conflicted with others in every one of the bounded number of tries.
  case contended
  /// No connection, or no response: nothing was changed.
  case unavailable(String)
  /// The connection broke during the commit: the change may or may not have been made.
  case outcomeUnknown
  /// The disk is full, or the file cannot be written.
  case full(String)
  /// Text with a NUL character, which PostgreSQL cannot store.
  case nulInText
  /// The rows of a statement have more bytes than it allows.
  case resultTooLarge(bytesMax: Int)
  /// The column is missing or its value is not of the expected type.
  case unreadable(column: String)
  /// The file, the schema or the URL is not usable; the process must not start.
  case unusable(String)
  /// Anything else, with the engine's message.
  case other(String)

  /// Whether the same request may succeed when it is retried.
  package var isTransient: Bool {
    switch self {
    case .contended, .unavailable, .outcomeUnknown, .full: true
    default: false
    }
  }
}
