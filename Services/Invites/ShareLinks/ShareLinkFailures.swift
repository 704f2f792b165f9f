import Wire

extension Failure {
  /// A refusal in the vocabulary of the collections apps' API.
  init(shareLink refusal: JoinRefusal) {
    self =
      switch refusal {
      case .inviteNotFound: .inviteNotFound
      case .ended, .inviterLacksPermission: .inviteProcessed
      case .expired: .inviteExpired
      case .wrongUser: .notYourInvite
      case .targetNotFound: .collectionNotFound
      case .rejectedByTarget(.blocked), .rejectedByTarget(.removed): .notYourInvite
      case .rejectedByTarget, .alreadyOwner: .collectionFull
      }
  }

  static let inviteRevoked = Failure(.gone, "invite_revoked", "This invite was taken back.")
  static let notYourInvite = Failure(.forbidden, "not_your_invite", "This invite is for somebody else.")
  static let collectionNotFound = Failure(.notFound, "collection_not_found", "There is no such collection.")
  static let collectionFull = Failure(.conflict, "collection_full", "This collection has no place left.")
  /// The apps show this message to users.
  static let notInCollection = Failure(.forbidden, "forbidden", "Forbidden")
  static let insufficientPermissions = Failure(.forbidden, "insufficient_permissions", "Insufficient permissions")
}
