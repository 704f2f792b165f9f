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
    /// Another request of the same user's is at it.
    case busy
    /// No invite was found; that was counted.
    case nothing
  }
}

typealias ClaimID = ID<Claim>
