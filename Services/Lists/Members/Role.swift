import Wire

/// What somebody is in a list. Viewers read, editors change, and only the owner ends it.
enum Role: String, Sendable, Codable, CaseIterable {
  case owner, editor, viewer

  var mayEdit: Bool { self != .viewer }

  /// - Throws: 403 for viewers.
  func requireEditor() throws(Failure) {
    guard mayEdit else { throw .viewersOnlyRead }
  }
}

extension Failure {
  static let viewersOnlyRead = Failure(.forbidden, "viewers_only_read", "You can look at this list, but not change it.")
  static let ownerOnly = Failure(.forbidden, "owner_only", "Only the owner of a list may do that.")
}
