import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Wire

/// An open file of a photo. A file that is being uploaded has no name in the file system, so it is freed when this
/// object is released or the process ends.
package final class UploadedFile: Sendable {
  package static let bytesMax = 10 * 1024 * 1024

  private let descriptor: CInt
  private let written = Atomic(0)

  package var byteCount: Int { written.load(ordering: .acquiring) }

  /// Creates a file without a name.
  ///
  /// - Throws: 503 when the disk is full.
  package init(in folder: String) throws {
    var path = Array("\(folder)/upload-XXXXXX".utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw FileFailure.fromErrno("mkstemp") }
    unlink(path)
  }

  /// Takes over the descriptor of an existing file and closes it on `deinit`.
  package init(opened descriptor: CInt, byteCount: Int) {
    self.descriptor = descriptor
    written.store(byteCount, ordering: .releasing)
  }

  deinit { close(descriptor) }

  /// Appends to the file. For one writer at a time.
  ///
  /// - Throws: 413 when the file would become too large, 503 when the disk is full.
  package func append(_ buffer: ByteBuffer) async throws {
    let start = byteCount
    guard buffer.readableBytes <= Self.bytesMax - start else { throw Failure.photoTooLarge }
    guard buffer.readableBytes > 0 else { return }
    try await NIOThreadPool.singleton.runIfActive { [descriptor] in
      try buffer.withUnsafeReadableBytes { try FileIO.write($0, to: descriptor, at: start) }
    }
    written.store(start + buffer.readableBytes, ordering: .releasing)
  }

  /// The whole content. Blocks.
  package func bytes() throws -> [UInt8] {
    let count = byteCount
    return try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      guard done == count else { throw Failure.broken }
    }
  }

  /// Reads until `bytes` is full or the file ends. Returns the number of bytes. Blocks.
  package func read(into bytes: UnsafeMutableRawBufferPointer, at start: Int) throws -> Int {
    try FileIO.read(bytes, from: descriptor, at: start)
  }
}
