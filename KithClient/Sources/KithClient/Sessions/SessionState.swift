/// Whether somebody is signed in.
public enum SessionState: Sendable, Equatable {
  /// Why nobody is signed in.
  public enum Reason: Sendable, Equatable {
    /// There was no session on this device.
    case noSession
    /// The user signed out, or deleted the account.
    case byUser
    /// The server has ended the session: it was revoked, or not used for too long.
    case ended
  }

  /// The id is nil until the first access token is there.
  case signedIn(userID: String?)
  case signedOut(Reason)
}
