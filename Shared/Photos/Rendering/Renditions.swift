/// The two renditions of a photo, as JPEG files without metadata.
package struct Renditions: Sendable {
  package let large: [UInt8]
  package let small: [UInt8]
  package let dimensions: PhotoDimensions

  package subscript(size: PhotoSize) -> [UInt8] { size == .large ? large : small }
}

/// The dimensions of the large rendition and the size of its file.
package struct PhotoDimensions: Sendable, Hashable {
  package let width: Int
  package let height: Int
  package let byteCount: Int

  package init(width: Int, height: Int, byteCount: Int) {
    self.width = width
    self.height = height
    self.byteCount = byteCount
  }
}
