import Foundation

/// What a session needs to go on after the app was closed.
public struct StoredSession: Codable, Sendable, Equatable {
  public let refreshToken: String
  /// The `Idempotency-Key` with which the token is exchanged. It is stored with the token, so that an exchange whose
  /// answer was lost, also because the app was killed, is repeated with the same key and gets the same answer.
  public let refreshKey: String

  /// - Parameter refreshKey: new for each token.
  public init(refreshToken: String, refreshKey: String = UUID().uuidString.lowercased()) {
    self.refreshToken = refreshToken
    self.refreshKey = refreshKey
  }
}

/// Keeps the session between two starts of the app. The access token is kept in memory only.
public protocol TokenStore: Sendable {
  /// - Throws: when it cannot be read now, for example before the first unlock. nil means that there is no session.
  func read() throws -> StoredSession?
  /// Replaces the session that is there.
  ///
  /// - Throws: when it cannot be written now.
  func write(_ session: StoredSession) throws
  /// Safe to repeat.
  ///
  /// - Throws: when it cannot be deleted now.
  func delete() throws
}

/// Keeps the session in memory, for tests and command-line programs.
///
/// `@unchecked Sendable`: `session` is only used under the lock.
public final class MemoryTokenStore: TokenStore, @unchecked Sendable {
  private let lock = NSLock()
  private var session: StoredSession?

  /// - Parameter session: nil: nobody is signed in.
  public init(_ session: StoredSession? = nil) { self.session = session }

  public func read() -> StoredSession? { lock.withLock { session } }
  public func write(_ session: StoredSession) { lock.withLock { self.session = session } }
  public func delete() { lock.withLock { session = nil } }
}
