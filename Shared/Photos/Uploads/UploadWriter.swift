import Crypto
import Foundation
import NIOCore
import Wire

/// Writes an arriving upload to a file in chunks and hashes it.
package struct UploadWriter {
  package let file: UploadedFile
  private var pending = ByteBuffer()
  private var hash = SHA256()
  private static let chunkLength = 256 * 1024

  package init(in folder: String) throws { file = try UploadedFile(in: folder) }

  package mutating func append(_ buffer: ByteBuffer) async throws {
    buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    pending.writeImmutableBuffer(buffer)
    if pending.readableBytes >= Self.chunkLength { try await flush() }
    // The limit includes bytes that are not written yet.
    guard file.byteCount + pending.readableBytes <= UploadedFile.bytesMax else { throw Failure.photoTooLarge }
  }

  /// Writes the pending bytes.
  package mutating func flush() async throws {
    try await file.append(pending)
    pending.clear()
  }

  /// The SHA-256 of what was appended.
  package var digest: Data { Data(hash.finalize()) }
}
