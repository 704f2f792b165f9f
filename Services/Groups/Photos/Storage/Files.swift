import Foundation
import Wire

/// Reading, writing and syncing by descriptor. Everything blocks.
enum Files {
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at start: Int) throws {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
      let count = pwrite(descriptor, base + done, bytes.count - done, off_t(start + done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFailure.last("write") }
      done += count
    }
  }

  /// Reads until `bytes` is full or the file ends, and says how much.
  static func read(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: CInt, at start: Int) throws -> Int {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
      let count = pread(descriptor, base + done, bytes.count - done, off_t(start + done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure.last("read") }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Makes the entries of a folder as lasting as its files.
  static func syncFolder(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { throw FileFailure.last("open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileFailure.last("fsync") }
  }
}

/// What the file system refused.
struct FileFailure: Error, CustomStringConvertible {
  let call: String
  let code: CInt

  var description: String { "\(call): \(String(cString: strerror(code)))" }

  /// The failure of the call before: 503 when there is no room, as room may come.
  static func last(_ call: String) -> any Error {
    let code = errno
    switch code {
    case ENOSPC, EDQUOT, EFBIG: return Failure.storageFull
    default: return FileFailure(call: call, code: code)
    }
  }
}
