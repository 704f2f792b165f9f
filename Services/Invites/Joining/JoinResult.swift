import Wire

/// What the service that owns the target answered to a join, for the response to the app.
struct JoinResult: Sendable, Hashable {
  let outcome: JoinOutcome
  /// The name of the group; nil for other targets.
  var name: String?
  /// The user's role in the collection or list after the join; nil for a group.
  var role: String?
  /// The list and the membership; nil for other targets.
  var list: JoinedList?
}
