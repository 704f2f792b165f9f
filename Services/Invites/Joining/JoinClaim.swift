import Wire

/// A use of an invite that is reserved for one user while the target's service adds them, and that this process holds
/// the lease of.
struct JoinClaim: Sendable, Hashable {
  let id: ClaimID
  let invite: Invite
  let user: UserID
  /// The lease of the row in `invite_use`. A process that finds another value there has lost the claim.
  let lease: String

  /// How long a request holds the lease: longer than the calls to other services take, and short enough that after a
  /// crash the worker finishes the join within a minute.
  static let leaseSeconds = 15.0

  /// The outcome of an attempt to claim a use of an invite.
  enum Attempt: Sendable {
    case acquired(JoinClaim)
    /// The target's service has not been queried yet for whether the user could join.
    case needsEligibility(Invite)
    /// Another request of the same user holds the claim.
    case inProgress
    /// There is no such invite; the failed attempt was counted.
    case notFound
  }
}
