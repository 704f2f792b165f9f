import Foundation
import Wire

/// Something that its owner shares with others by links: a name, and who may do what with it.
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
    try Words.required(text, field: "name", charactersMax: nameCharactersMax)
  }

  private static let nameCharactersMax = 120

  /// The name under which an heir has it who may have one of the same name already; the first is the name itself.
  static func name(_ name: String, attempt: Int) -> String {
    guard attempt > 1 else { return name }
    let suffix = " (\(attempt))"
    return name.prefix(nameCharactersMax - suffix.count) + suffix
  }
}

/// One user's place in a collection.
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
  /// The apps show these words.
  static let insufficientPermissions = Failure(.forbidden, "insufficient_permissions", "Insufficient permissions")
  static let ownerIsFixed = Failure(
    .malformed, "owner_is_fixed", "The owner's role can neither be changed nor taken away.")
}
