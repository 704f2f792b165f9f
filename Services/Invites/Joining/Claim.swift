import Wire

/// A place that somebody has taken up by an invite, and that this process is seeing them to.
struct Claim: Sendable, Hashable {
  let id: ClaimID
  let invite: Invite
  let user: UserID
  /// Whoever else finds another one in the row has taken over.
  let lease: String

  /// How long a request has it to itself. Longer than asking others takes, and when the process dies, somebody else
  /// finishes it well within a minute.
  static let leaseSeconds = 15.0

  /// What becomes of one who wants to come in.
  enum Attempt: Sendable {
    case mine(Claim)
    /// Nobody has asked yet whether they could come in where it leads.
    case unasked(Invite)
    /// Another request of the same user's is at it.
    case busy
    /// No invite was found; that was counted.
    case nothing
  }
}

/// What was said of somebody where an invite leads, before they take it up: who cannot come in anyway keeps nobody else
/// from it, not even for a moment.
enum Welcome: Sendable {
  case unasked, open
  case refused(JoinRefusal)
}
