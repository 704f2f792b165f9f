import Foundation
import Hummingbird
import Wire

/// The envelope of all responses about collections. `count` is the total number of items, not that of the page.
struct DataBody<Value: Encodable>: Encodable {
  let data: Value
  var count: Int?
}

/// A collection in responses.
struct CollectionBody: Encodable {
  let id: String
  let userId: String
  let name: String
  let createdAt: Date
  let updatedAt: Date

  init(_ collection: Collection) {
    id = collection.id.prefixed(.collection)
    userId = collection.owner.prefixed(.user)
    name = collection.name
    createdAt = collection.createdAt
    updatedAt = collection.updatedAt
  }
}

/// A member of a collection in responses.
struct CollectionMemberBody: Encodable {
  struct UserBody: Encodable {
    let id: String
    @NullCodable var email: String?
    @NullCodable var name: String?
    @NullCodable var displayName: String?
    let profileStatus: String
    let locale: String
  }

  let id: MemberID
  let collectionId: String
  let userId: String
  let role: CollectionRole
  let user: UserBody
  let createdAt: Date
  let updatedAt: Date

  /// - Parameter person: nil for a user whose account is currently deactivated.
  init(_ member: CollectionMember, _ person: Person?) {
    id = member.id
    collectionId = member.collection.prefixed(.collection)
    userId = member.user.prefixed(.user)
    role = member.role
    user = UserBody(
      id: userId, email: person?.email, name: person?.name, displayName: person?.name,
      profileStatus: person?.name == nil ? "INCOMPLETE" : "COMPLETE", locale: person?.locale ?? "en")
    createdAt = member.createdAt
    updatedAt = member.updatedAt
  }
}

extension RequestContext {
  func collectionID() throws -> CollectionID { try id("collection", prefix: .collection, else: .collectionNotFound) }
}
