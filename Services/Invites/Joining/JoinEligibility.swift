/// Whether the target's service would let a user join, queried before a use is claimed: a user who would be refused
/// then does not block the use for others, not even briefly.
enum JoinEligibility: Sendable {
  case unchecked, eligible
  case refused(JoinRefusal)
}
