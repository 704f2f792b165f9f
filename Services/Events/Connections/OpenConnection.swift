import Wire

/// A socket or an event stream of a user, which counts against the limit of how many may be open.
struct OpenConnection: Sendable {
  /// Its number in this process.
  let number: Int
  let user: UserID
}
