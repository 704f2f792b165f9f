import Foundation

/// A lock between processes on one machine, by `flock(2)` on a file of its own. It is released when its process ends.
struct FileLock: Sendable {
  private let path: String

  init(path: String) throws {
    self.path = path
    let descriptor = try open()
    closeDescriptor(descriptor)
  }

  /// Runs `body` while holding the lock. Waits for the lock without a timeout.
  func withLock<T>(_ body: () throws -> T) throws -> T {
    let descriptor = try open()
    defer { closeDescriptor(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw DatabaseFailure.unusable("\(path): \(String(cString: strerror(errno)))") }
    }
    return try body()
  }

  private func open() throws -> Int32 {
    #if canImport(Darwin)
      let descriptor = Darwin.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    #else
      let descriptor = Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    #endif
    guard descriptor >= 0 else { throw DatabaseFailure.unusable("\(path): \(String(cString: strerror(errno)))") }
    return descriptor
  }

  private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
}
