import Foundation
import NIOCore
import NIOPosix
import Wire

/// Photos in a local folder, or one that all replicas share. It has a subfolder for about every quarter of an hour,
/// named by the first digits of the ids, and one for incomplete files.
package struct PhotoFolder: PhotoFiles {
  package let path: String
  /// Syncs the entries of a folder to the disk.
  private let sync: @Sendable (_ folder: String) throws -> Void

  /// The folder of incomplete files.
  package var incoming: String { "\(path)/incoming" }

  private static let folderNameLength = 7
  /// Larger files are read and written in chunks of this many bytes.
  private static let chunkLength = 512 * 1024

  /// - Throws: when the folders do not exist and cannot be created.
  package init(_ path: String, sync: @escaping @Sendable (_ folder: String) throws -> Void = FileIO.syncFolder) throws {
    self.path = path
    self.sync = sync
    try FileManager.default.createDirectory(
      atPath: incoming, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  package func store(_ bytes: [UInt8], as name: PhotoFileName) async throws {
    try await runBlocking { try store(as: name) { try Self.write(bytes, to: $0) } }
  }

  package func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await runBlocking { try store(as: name) { try Self.write(file, to: $0) } }
  }

  private func store(as name: PhotoFileName, _ write: (_ path: String) throws -> Void) throws {
    let draft = "\(incoming)/\(name.text).\(UUID().uuidString)"
    do {
      try write(draft)
      try move(draft, to: name)
    } catch {
      unlink(draft)
      throw error
    }
  }

  package func marker() async throws -> StorageMarkerID? {
    try await runBlocking {
      let descriptor = open("\(path)/\(Self.markerName)", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        if errno == ENOENT { return nil }
        throw FileFailure.fromErrno("open")
      }
      let file = UploadedFile(opened: descriptor, byteCount: StorageMarkerID.textLength)
      let text = String(decoding: try file.bytes(), as: UTF8.self)
      guard let marker = StorageMarkerID(text) else { throw Failure.broken }
      return marker
    }
  }

  package func writeMarker(_ marker: StorageMarkerID) async throws {
    try await runBlocking {
      let draft = "\(incoming)/\(Self.markerName).\(UUID().uuidString)"
      try Self.write(Array(marker.description.utf8), to: draft)
      guard rename(draft, "\(path)/\(Self.markerName)") == 0 else { throw FileFailure.fromErrno("rename") }
      try sync(path)
    }
  }

  package func original(of id: UUID, into folder: String) async throws -> UploadedFile? {
    try await runBlocking {
      guard let (descriptor, count) = try opened(PhotoFileName(id, .original)) else { return nil }
      let file = UploadedFile(opened: descriptor, byteCount: count)
      guard count <= UploadedFile.bytesMax else { throw Failure.photoTooLarge }
      return file
    }
  }

  package func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    try await runBlocking {
      guard let (descriptor, count) = try opened(name) else { return nil }
      let file = UploadedFile(opened: descriptor, byteCount: count)
      let range = try range?.resolved(in: count) ?? 0..<count
      guard range.count > Self.chunkLength else {
        return StoredBytes(totalCount: count, range: range, content: .buffer(try file.buffer(range)))
      }
      let chunks = stride(from: range.lowerBound, to: range.upperBound, by: Self.chunkLength).map {
        $0..<min($0 + Self.chunkLength, range.upperBound)
      }
      return StoredBytes(
        totalCount: count, range: range,
        content: .chunks { write in
          for chunk in chunks { try await write(runBlocking { try file.buffer(chunk) }) }
        })
    }
  }

  package func delete(_ names: [PhotoFileName]) async throws {
    try await runBlocking {
      for name in names {
        guard unlink(location(name)) == 0 || errno == ENOENT else { throw FileFailure.fromErrno("unlink") }
      }
      // `rmdir` removes only empty folders.
      for folder in Set(names.map(folder)) { rmdir(folder) }
    }
  }

  package func list(after name: PhotoFileName?) async throws -> [PhotoFileName] {
    try await runBlocking {
      let first = name.map { String($0.text.prefix(Self.folderNameLength)) } ?? ""
      for folder in try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      where folder.utf8.count == Self.folderNameLength && folder >= first {
        // `try?`: the folder may have been removed since the listing.
        let texts = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []
        let names = texts.compactMap { PhotoFileName($0) }.filter { file in name.map { $0 < file } ?? true }
        if !names.isEmpty { return names.sorted() }
      }
      return []
    }
  }

  package func uploadURL(of id: UUID, byteCount: Int, for lifetime: Duration) -> String? { nil }

  /// Deletes incomplete files that a crashed process has left: those last changed before `time`.
  package func clearIncoming(before time: Date) async throws {
    try await runBlocking {
      for name in try FileManager.default.contentsOfDirectory(atPath: incoming) {
        var status = stat()
        guard lstat("\(incoming)/\(name)", &status) == 0 else { continue }
        if Date(timeIntervalSince1970: Double(status.modified)) < time { unlink("\(incoming)/\(name)") }
      }
    }
  }

  private func folder(of name: PhotoFileName) -> String { "\(path)/\(name.text.prefix(Self.folderNameLength))" }

  private func location(_ name: PhotoFileName) -> String { "\(folder(of: name))/\(name.text)" }

  private func opened(_ name: PhotoFileName) throws -> (descriptor: CInt, count: Int)? {
    let descriptor = open(location(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw FileFailure.fromErrno("open")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      close(descriptor)
      throw FileFailure.fromErrno("fstat")
    }
    return (descriptor, Int(status.st_size))
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    try write(to: path) { descriptor in try bytes.withUnsafeBytes { try FileIO.write($0, to: descriptor, at: 0) } }
  }

  private static func write(_ file: UploadedFile, to path: String) throws {
    try write(to: path) { descriptor in
      for start in stride(from: 0, to: file.byteCount, by: chunkLength) {
        let chunk = try file.buffer(start..<min(start + chunkLength, file.byteCount))
        try chunk.withUnsafeReadableBytes { try FileIO.write($0, to: descriptor, at: start) }
      }
    }
  }

  private static func write(to path: String, _ write: (CInt) throws -> Void) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFailure.fromErrno("open") }
    defer { close(descriptor) }
    try write(descriptor)
    guard fsync(descriptor) == 0 else { throw FileFailure.fromErrno("fsync") }
  }

  /// Moves a complete file to its name, atomically and durably.
  private func move(_ draft: String, to name: PhotoFileName) throws {
    let folder = folder(of: name)
    // A concurrent `delete` may remove the empty folder between `mkdir` and `rename`.
    for _ in 0..<5 {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileFailure.fromErrno("mkdir") }
      if rename(draft, location(name)) == 0 {
        try sync(folder)
        // Another process may have created the folder without having synced `path` yet. The folder is not empty now, so
        // it is not removed.
        return try sync(path)
      }
      guard errno == ENOENT else { throw FileFailure.fromErrno("rename") }
    }
    throw Failure.unavailable
  }

  /// Runs blocking work on a thread pool.
  package func runBlocking<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await NIOThreadPool.singleton.runIfActive(work)
  }
}

extension UploadedFile {
  /// A range of the file. Blocks.
  package func buffer(_ range: Range<Int>) throws -> ByteBuffer {
    var buffer = ByteBuffer()
    try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) { bytes in
      let wanted = UnsafeMutableRawBufferPointer(rebasing: bytes[..<range.count])
      guard try read(into: wanted, at: range.lowerBound) == range.count else { throw Failure.broken }
      return range.count
    }
    return buffer
  }
}

extension stat {
  /// Seconds since 1970 of the last change.
  fileprivate var modified: Int {
    #if canImport(Darwin)
      st_mtimespec.tv_sec
    #else
      st_mtim.tv_sec
    #endif
  }
}
