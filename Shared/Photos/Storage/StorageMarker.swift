import Wire

/// The id that a storage and a database share when they belong together.
package struct StorageMarker: Sendable, Hashable {
  package let id: StorageMarkerID
  /// Whether it has been written to the storage. From then on a storage without it is another one.
  package let isWritten: Bool

  package init(id: StorageMarkerID, isWritten: Bool) {
    self.id = id
    self.isWritten = isWritten
  }
}

package typealias StorageMarkerID = ID<StorageMarker>

extension StorageMarkerID {
  /// The length of its text form: 32 digits and four hyphens.
  static var textLength: Int { 36 }
}
