/// Asks a service whether one of its rows that `viewer` sees names the file of its owner.
package struct ShownPhotoQuery: Codable, Sendable {
  package let photo: StoredObjectName
  package let viewer: UserID

  package init(photo: StoredObjectName, viewer: UserID) {
    self.photo = photo
    self.viewer = viewer
  }
}

package struct ShownPhoto: Codable, Sendable {
  package let is_shown: Bool

  package init(is_shown: Bool) { self.is_shown = is_shown }
}

/// Files of one user, to be deleted with the rows that named them.
package struct StoredObjectDeletion: Codable, Sendable {
  package let owner: UserID
  /// Those of other users are left alone.
  package let names: [StoredObjectName]

  package static let namesMax = 1000

  package init(owner: UserID, names: [StoredObjectName]) {
    self.owner = owner
    self.names = names
  }
}

package struct DeletedObjects: Codable, Sendable {
  package let deleted: Int

  package init(deleted: Int) { self.deleted = deleted }
}
