import Wire

extension Failure {
  /// A refusal in the words of the apps with collections.
  init(shareLink refusal: JoinRefusal) {
    self =
      switch refusal {
      case .unknown: .inviteNotFound
      case .over, .lapsed: .inviteProcessed
      case .expired: .inviteExpired
      case .forSomebodyElse: .notYourInvite
      case .gone: .collectionNotFound
      case .notLetIn(.blocked), .notLetIn(.removed): .notYourInvite
      case .notLetIn, .ownsIt: .collectionFull
      }
  }

  static let inviteRevoked = Failure(.gone, "invite_revoked", "This invite was taken back.")
  static let notYourInvite = Failure(.forbidden, "not_your_invite", "This invite is for somebody else.")
  static let collectionNotFound = Failure(.notFound, "collection_not_found", "There is no such collection.")
  static let collectionFull = Failure(.conflict, "collection_full", "This collection has no place left.")
  /// The apps show these words.
  static let notInCollection = Failure(.forbidden, "forbidden", "Forbidden")
  static let insufficientPermissions = Failure(.forbidden, "insufficient_permissions", "Insufficient permissions")
}
