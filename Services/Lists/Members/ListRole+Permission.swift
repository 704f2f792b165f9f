import Wire

extension ListRole {
  /// - Throws: 403 for viewers.
  func requireEditor() throws(Failure) {
    guard mayEdit else { throw .viewersOnlyRead }
  }
}

extension Failure {
  static let viewersOnlyRead = Failure(.forbidden, "viewers_only_read", "You can look at this list, but not change it.")
  static let ownerOnly = Failure(.forbidden, "owner_only", "Only the owner of a list may do that.")
}
