import Foundation
import Wire

/// Blocking reads, writes and syncs on file descriptors.
enum FileIO {
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at start: Int) throws {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
      let count = pwrite(descriptor, base + done, bytes.count - done, off_t(start + done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFailure.fromErrno("write") }
      done += count
    }
  }

  /// Reads until `bytes` is full or the file ends. Returns the number of bytes.
  static func read(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: CInt, at start: Int) throws -> Int {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
      let count = pread(descriptor, base + done, bytes.count - done, off_t(start + done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure.fromErrno("read") }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Syncs the entries of a folder to the disk, so that its files survive a power cut under their names.
  static func syncFolder(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { throw FileFailure.fromErrno("open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileFailure.fromErrno("fsync") }
  }
}

/// A failed system call on a file.
struct FileFailure: Error, CustomStringConvertible {
  let call: String
  let code: CInt

  var description: String { "\(call): \(String(cString: strerror(code)))" }

  /// The failure of the previous call, from `errno`. A full disk is a 503, as space may become free.
  static func fromErrno(_ call: String) -> any Error {
    let code = errno
    switch code {
    case ENOSPC, EDQUOT, EFBIG: return Failure.storageFull
    default: return FileFailure(call: call, code: code)
    }
  }
}
