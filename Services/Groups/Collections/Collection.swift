import Foundation
import Wire

/// A named collection that its owner shares with other users by links, with a role for each member.
struct Collection: Sendable, Hashable {
  let id: CollectionID
  let owner: UserID
  let name: String
  let memberCount: Int
  let memberCountMax: Int
  let createdAt: Date
  let updatedAt: Date

  static let memberCountMax = 100

  /// - Throws: the validation failure that names the field, unless it has 1 to 120 characters.
  static func name(_ text: String) throws(Failure) -> String {
    try TrimmedText.required(text, field: "name", charactersMax: nameCharactersMax)
  }

  private static let nameCharactersMax = 120

  /// A candidate name for a collection whose new owner may already have one of the same name: the name itself for the
  /// first attempt, with the number of the attempt as a suffix after that.
  static func name(_ name: String, attempt: Int) -> String {
    guard attempt > 1 else { return name }
    let suffix = " (\(attempt))"
    return name.prefix(nameCharactersMax - suffix.count) + suffix
  }
}

/// A user's membership in a collection.
struct CollectionMember: Sendable, Hashable {
  let id: MemberID
  let collection: CollectionID
  let user: UserID
  let role: CollectionRole
  let createdAt: Date
  let updatedAt: Date
}

typealias MemberID = ID<CollectionMember>

extension Failure {
  static let collectionNotFound = Failure(.notFound, "collection_not_found", "There is no such collection.")
  static let collectionNameTaken = Failure(
    .conflict, "collection_name_taken", "You have a collection of that name already.")
  /// The apps show this message to users.
  static let insufficientPermissions = Failure(.forbidden, "insufficient_permissions", "Insufficient permissions")
  static let ownerIsFixed = Failure(
    .malformed, "owner_is_fixed", "The owner's role can neither be changed nor taken away.")
}
