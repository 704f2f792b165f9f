import Crypto
import Foundation

/// Writes a tar archive of files, and computes the checksum of each.
struct TarWriter: ~Copyable {
  private let file: FileHandle
  private let modifiedAt: Int

  /// - Throws: ``BackupFailure`` when the file exists or cannot be created.
  init(path: String, at now: Date) throws {
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BackupFailure("\(path): \(String(cString: strerror(errno)))") }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    modifiedAt = Int(now.timeIntervalSince1970)
  }

  /// - Throws: ``BackupFailure`` when the file becomes shorter meanwhile.
  func add(_ name: String, contentsOf path: String) throws -> BackupManifest.File {
    let source = try FileHandle(forReadingFrom: URL(filePath: path))
    let size = Int(try source.seekToEnd())
    try source.seek(toOffset: 0)
    return try add(name, size: size) { try source.read(upToCount: min($0, 1 << 20)) ?? Data() }
  }

  func add(_ name: String, _ data: Data) throws -> BackupManifest.File {
    try add(name, size: data.count) { _ in data }
  }

  /// Ends the archive. It is on the disk when this returns.
  consuming func finish() throws {
    try file.write(contentsOf: Data(count: 2 * TarHeader.blockSize))
    try file.synchronize()
    try file.close()
  }

  /// - Parameter next: the next bytes, at most as many as remain.
  private func add(_ name: String, size: Int, _ next: (Int) throws -> Data) throws -> BackupManifest.File {
    try file.write(contentsOf: try TarHeader(name: name, size: size).bytes(modifiedAt: modifiedAt))
    var (hash, remaining) = (SHA256(), size)
    while remaining > 0 {
      let bytes = try next(remaining)
      guard !bytes.isEmpty else { throw BackupFailure("\(name) became shorter while it was read") }
      hash.update(data: bytes)
      try file.write(contentsOf: bytes)
      remaining -= bytes.count
    }
    let padding = (TarHeader.blockSize - size % TarHeader.blockSize) % TarHeader.blockSize
    try file.write(contentsOf: Data(count: padding))
    return BackupManifest.File(name: name, bytes: size, sha256: hash.finalize().hex)
  }
}
