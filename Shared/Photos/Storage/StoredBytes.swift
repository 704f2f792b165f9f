import NIOCore

/// A range of a stored file, or all of it.
package struct StoredBytes: Sendable {
  /// Of the whole file.
  package let totalCount: Int
  package let range: Range<Int>
  package let content: Content

  package enum Content: Sendable {
    case buffer(ByteBuffer)
    /// Passes chunk after chunk to `write`, each after the call for the previous one has returned.
    case chunks(@Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void)
  }
  package init(totalCount: Int, range: Range<Int>, content: Content) {
    self.totalCount = totalCount
    self.range = range
    self.content = content
  }
}
