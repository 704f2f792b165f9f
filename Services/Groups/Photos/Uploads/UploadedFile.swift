import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Wire

/// An open file of a photo. One that is being uploaded has no name: once nobody holds it, or the process dies, it is gone.
final class UploadedFile: Sendable {
  static let bytesMax = 10 * 1024 * 1024

  private let descriptor: CInt
  private let written = Atomic(0)

  var byteCount: Int { written.load(ordering: .acquiring) }

  /// - Throws: 503 when the disk is full.
  init(in folder: String) throws {
    var path = Array("\(folder)/upload-XXXXXX".utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw FileFailure.last("mkstemp") }
    unlink(path)
  }

  /// A file that is there already, however many names it has; closed with this.
  init(opened descriptor: CInt, byteCount: Int) {
    self.descriptor = descriptor
    written.store(byteCount, ordering: .releasing)
  }

  deinit { close(descriptor) }

  /// One writer at a time.
  ///
  /// - Throws: 413 when this would be too much, 503 when the disk is full.
  func append(_ buffer: ByteBuffer) async throws {
    let start = byteCount
    guard buffer.readableBytes <= Self.bytesMax - start else { throw Failure.photoTooLarge }
    guard buffer.readableBytes > 0 else { return }
    try await NIOThreadPool.singleton.runIfActive { [descriptor] in
      try buffer.withUnsafeReadableBytes { try Files.write($0, to: descriptor, at: start) }
    }
    written.store(start + buffer.readableBytes, ordering: .releasing)
  }

  /// All of it. Blocks.
  func bytes() throws -> [UInt8] {
    let count = byteCount
    return try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      guard done == count else { throw Failure.broken }
    }
  }

  /// Reads until `bytes` is full or the file ends, and says how much. Blocks.
  func read(into bytes: UnsafeMutableRawBufferPointer, at start: Int) throws -> Int {
    try Files.read(bytes, from: descriptor, at: start)
  }
}
