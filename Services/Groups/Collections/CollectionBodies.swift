import Foundation
import Hummingbird
import Wire

/// What the apps of collections expect around everything; `count` is of all that there are.
struct DataBody<Value: Encodable>: Encodable {
  let data: Value
  var count: Int?
}

/// A collection as its apps read it.
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

/// A member of a collection as its apps read one.
struct CollectionMemberBody: Encodable {
  struct UserBody: Encodable {
    let id: String
    @OrNull var email: String?
    @OrNull var name: String?
    @OrNull var displayName: String?
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

  /// - Parameter person: nil for a user whose account is closed at the moment.
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
