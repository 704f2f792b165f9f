import ClientBodies
import Wire

/// A collection in responses.
extension ClientBodies.SharedCollection {
  init(_ collection: Collection) {
    self.init(
      id: collection.id.prefixed(.collection), userID: collection.owner.prefixed(.user), name: collection.name,
      createdAt: collection.createdAt, updatedAt: collection.updatedAt)
  }
}

/// A member of a collection in responses.
extension ClientBodies.SharedCollection.Member {
  /// - Parameter person: nil for a user whose account is currently deactivated.
  init(_ member: CollectionMember, _ person: Person?) {
    let userID = member.user.prefixed(.user)
    self.init(
      id: member.id.description, collectionID: member.collection.prefixed(.collection), userID: userID,
      role: .init(member.role),
      user: User(
        id: userID, email: person?.email, name: person?.name, displayName: person?.name,
        profileStatus: person?.name == nil ? "INCOMPLETE" : "COMPLETE", locale: person?.locale ?? "en"),
      createdAt: member.createdAt, updatedAt: member.updatedAt)
  }
}

extension ClientBodies.SharedCollection.Role {
  fileprivate init(_ role: CollectionRole) {
    self =
      switch role {
      case .owner: .owner
      case .editor: .editor
      case .viewOnly: .viewOnly
      }
  }
}
