import Foundation
import Wire

/// The name of a stored file: the id of what it belongs to, which is mostly random, and the kind of file. It contains
/// nothing that a client has chosen.
package struct PhotoFileName: Sendable, Hashable, Comparable {
  package enum Kind: String, Sendable, CaseIterable {
    case large = "1080.jpg"
    case small = "320.jpg"
    /// The original upload, until it has been rendered.
    case original = "upload"
  }

  package let id: UUID
  package let kind: Kind

  package init(_ id: UUID, _ kind: Kind) {
    self.id = id
    self.kind = kind
  }

  package init(_ id: UUID, size: PhotoSize) { self.init(id, size == .large ? .large : .small) }

  /// nil for a name of any other form.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let id = FileID(String(parts[0])), id.description == parts[0],
      let kind = Kind(rawValue: String(parts[1]))
    else { return nil }
    self.init(id.uuid, kind)
  }

  package var text: String { "\(FileID(id)).\(kind.rawValue)" }

  package static func < (left: PhotoFileName, right: PhotoFileName) -> Bool { left.text < right.text }

  private typealias FileID = ID<PhotoFileName>
}

/// The sizes in which a photo is stored: the maximum number of pixels of the longer side.
package enum PhotoSize: Int, Sendable, CaseIterable {
  case large = 1080
  case small = 320
}
