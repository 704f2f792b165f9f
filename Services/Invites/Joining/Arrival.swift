import Wire

/// Who has come in where, for the answer.
struct Arrival: Sendable, Hashable {
  let outcome: JoinOutcome
  /// What it is called; nil where that is not asked for.
  var name: String?
  /// What they are in it now.
  var role: String?
  /// Only where it is a list.
  var list: ListJoined?
}
