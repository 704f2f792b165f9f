import Foundation
import NIOCore
import NIOPosix
import Wire

/// Photos in a folder that all replicas share, or that the only one has. In it is a folder for every quarter of an hour
/// or so, by the first digits of the ids, and one for what is being written.
struct PhotoFolder: PhotoFiles {
  let path: String
  /// Makes the entries of a folder lasting.
  private let sync: @Sendable (_ folder: String) throws -> Void

  /// Where files are until they are complete.
  var incoming: String { "\(path)/incoming" }

  private static let digitsOfFolder = 7
  /// Read and sent at once; larger ones go in pieces of this length.
  private static let pieceLength = 512 * 1024

  /// - Throws: when the folders are not there and cannot be made.
  init(_ path: String, sync: @escaping @Sendable (_ folder: String) throws -> Void = Files.syncFolder) throws {
    self.path = path
    self.sync = sync
    try FileManager.default.createDirectory(
      atPath: incoming, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws {
    try await blocking { try store(as: name) { try Self.write(bytes, to: $0) } }
  }

  func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await blocking { try store(as: name) { try Self.write(file, to: $0) } }
  }

  private func store(as name: PhotoFileName, _ write: (_ draft: String) throws -> Void) throws {
    let draft = "\(incoming)/\(name.text).\(UUID().uuidString)"
    do {
      try write(draft)
      try place(draft, as: name)
    } catch {
      unlink(draft)
      throw error
    }
  }

  func mark() async throws -> StoreMarkID? {
    try await blocking {
      let descriptor = open("\(path)/\(Self.markName)", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        if errno == ENOENT { return nil }
        throw FileFailure.last("open")
      }
      let file = UploadedFile(opened: descriptor, byteCount: StoreMarkID.textLength)
      guard let mark = StoreMarkID(String(decoding: try file.bytes(), as: UTF8.self)) else { throw Failure.broken }
      return mark
    }
  }

  func place(_ mark: StoreMarkID) async throws {
    try await blocking {
      let draft = "\(incoming)/\(Self.markName).\(UUID().uuidString)"
      try Self.write(Array(mark.description.utf8), to: draft)
      guard rename(draft, "\(path)/\(Self.markName)") == 0 else { throw FileFailure.last("rename") }
      try sync(path)
    }
  }

  func original(of photo: PhotoID, into folder: String) async throws -> UploadedFile? {
    try await blocking {
      guard let (descriptor, count) = try opened(PhotoFileName(photo, .original)) else { return nil }
      let file = UploadedFile(opened: descriptor, byteCount: count)
      guard count <= UploadedFile.bytesMax else { throw Failure.photoTooLarge }
      return file
    }
  }

  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    try await blocking {
      guard let (descriptor, count) = try opened(name) else { return nil }
      let file = UploadedFile(opened: descriptor, byteCount: count)
      let range = try range?.resolved(in: count) ?? 0..<count
      guard range.count > Self.pieceLength else {
        return StoredBytes(totalCount: count, range: range, content: .whole(try file.buffer(range)))
      }
      let pieces = stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceLength).map {
        $0..<min($0 + Self.pieceLength, range.upperBound)
      }
      return StoredBytes(
        totalCount: count, range: range,
        content: .pieces { take in
          for piece in pieces { try await take(blocking { try file.buffer(piece) }) }
        })
    }
  }

  func delete(_ names: [PhotoFileName]) async throws {
    try await blocking {
      for name in names {
        guard unlink(location(name)) == 0 || errno == ENOENT else { throw FileFailure.last("unlink") }
      }
      // Only empty ones go.
      for folder in Set(names.map { folder(of: $0.photo) }) { rmdir(folder) }
    }
  }

  func list(after name: PhotoFileName?) async throws -> [PhotoFileName] {
    try await blocking {
      let first = name.map { String($0.text.prefix(Self.digitsOfFolder)) } ?? ""
      for folder in try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      where folder.utf8.count == Self.digitsOfFolder && folder >= first {
        // `try?`: a folder may go while its neighbours are looked at.
        let texts = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []
        let names = texts.compactMap { PhotoFileName($0) }.filter { file in name.map { $0 < file } ?? true }
        if !names.isEmpty { return names.sorted() }
      }
      return []
    }
  }

  func uploadURL(of photo: PhotoID, byteCount: Int, for lifetime: Duration) -> String? { nil }

  /// Deletes what was being written when a process died.
  func clearIncoming(before time: Date) async throws {
    try await blocking {
      for name in try FileManager.default.contentsOfDirectory(atPath: incoming) {
        var status = stat()
        guard lstat("\(incoming)/\(name)", &status) == 0 else { continue }
        if Date(timeIntervalSince1970: Double(status.modified)) < time { unlink("\(incoming)/\(name)") }
      }
    }
  }

  private func folder(of photo: PhotoID) -> String { "\(path)/\(photo.description.prefix(Self.digitsOfFolder))" }

  private func location(_ name: PhotoFileName) -> String { "\(folder(of: name.photo))/\(name.text)" }

  private func opened(_ name: PhotoFileName) throws -> (descriptor: CInt, count: Int)? {
    let descriptor = open(location(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw FileFailure.last("open")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      close(descriptor)
      throw FileFailure.last("fstat")
    }
    return (descriptor, Int(status.st_size))
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    try write(to: path) { descriptor in try bytes.withUnsafeBytes { try Files.write($0, to: descriptor, at: 0) } }
  }

  private static func write(_ file: UploadedFile, to path: String) throws {
    try write(to: path) { descriptor in
      for start in stride(from: 0, to: file.byteCount, by: pieceLength) {
        let piece = try file.buffer(start..<min(start + pieceLength, file.byteCount))
        try piece.withUnsafeReadableBytes { try Files.write($0, to: descriptor, at: start) }
      }
    }
  }

  private static func write(to path: String, _ write: (CInt) throws -> Void) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFailure.last("open") }
    defer { close(descriptor) }
    try write(descriptor)
    guard fsync(descriptor) == 0 else { throw FileFailure.last("fsync") }
  }

  /// Under its name from one moment to the next, for good.
  private func place(_ draft: String, as name: PhotoFileName) throws {
    let folder = folder(of: name.photo)
    // The folder may be removed, being empty, just when it is wanted.
    for _ in 0..<5 {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileFailure.last("mkdir") }
      if rename(draft, location(name)) == 0 {
        try sync(folder)
        // Whoever has made the folder may not have come to this yet; and it stays, now that it is not empty.
        return try sync(path)
      }
      guard errno == ENOENT else { throw FileFailure.last("rename") }
    }
    throw Failure.unavailable
  }

  /// Runs what blocks on threads that may.
  func blocking<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await NIOThreadPool.singleton.runIfActive(work)
  }
}

extension UploadedFile {
  /// Part of it. Blocks.
  func buffer(_ range: Range<Int>) throws -> ByteBuffer {
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
