import DequeModule
import NIOCore
import Synchronization

/// Keeps in memory, for some seconds, what has been read: a photo is looked at by the whole group when it comes.
///
/// Bytes stay no longer than ``lifetime`` and the next ``tidy()``, and are gone at once when this process deletes them.
final class RecentPhotoFiles: PhotoFiles {
  private struct Entry {
    let bytes: ByteBuffer
    let until: ContinuousClock.Instant
  }

  private struct State {
    var entries: [PhotoFileName: Entry] = [:]
    /// The oldest first, among them some that have been forgotten since.
    var order: Deque<(name: PhotoFileName, until: ContinuousClock.Instant)> = []
    var byteCount = 0
    /// Counted, so that what was being read meanwhile is not kept.
    var deletions = 0

    mutating func add(_ entry: Entry, as name: PhotoFileName) {
      forget(name)
      entries[name] = entry
      order.append((name, entry.until))
      byteCount += entry.bytes.readableBytes
    }

    mutating func forgetOldest() {
      guard let (name, until) = order.popFirst(), entries[name]?.until == until else { return }
      forget(name)
    }

    mutating func forget(_ name: PhotoFileName) {
      byteCount -= entries.removeValue(forKey: name)?.bytes.readableBytes ?? 0
    }
  }

  private let files: any PhotoFiles
  private let state = Mutex(State())
  private let bytesMax: Int
  private let lifetime: Duration
  /// Larger files are rare, and would push out many.
  private static let fileBytesMax = 512 * 1024

  init(_ files: any PhotoFiles, bytesMax: Int = 32 * 1024 * 1024, lifetime: Duration = .seconds(10)) {
    self.files = files
    self.bytesMax = bytesMax
    self.lifetime = lifetime
  }

  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    if let bytes = kept(name) { return try StoredBytes(range, of: bytes) }
    let deletions = state.withLock(\.deletions)
    guard let stored = try await files.read(name, range) else { return nil }
    guard range == nil, stored.totalCount <= Self.fileBytesMax else { return stored }
    let bytes = try await stored.collected()
    keep(bytes, as: name, unlessDeletedSince: deletions)
    return try StoredBytes(nil, of: bytes)
  }

  func delete(_ names: [PhotoFileName]) async throws {
    forget(names)
    try await files.delete(names)
    forget(names)
  }

  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws {
    try await files.store(bytes, as: name)
    forget([name])
  }

  func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await files.store(file, as: name)
    forget([name])
  }

  /// What there is in memory.
  var byteCount: Int { state.withLock(\.byteCount) }

  func tidy() {
    let now = ContinuousClock.now
    state.withLock { state in
      while let first = state.order.first, first.until <= now { state.forgetOldest() }
    }
  }

  func original(of photo: PhotoID, into folder: String) async throws -> UploadedFile? {
    try await files.original(of: photo, into: folder)
  }

  func mark() async throws -> StoreMarkID? { try await files.mark() }

  func place(_ mark: StoreMarkID) async throws { try await files.place(mark) }

  func list(after name: PhotoFileName?) async throws -> [PhotoFileName] { try await files.list(after: name) }

  func uploadURL(of photo: PhotoID, byteCount: Int, for lifetime: Duration) -> String? {
    files.uploadURL(of: photo, byteCount: byteCount, for: lifetime)
  }

  private func kept(_ name: PhotoFileName) -> ByteBuffer? {
    state.withLock { $0.entries[name] }.flatMap { $0.until > .now ? $0.bytes : nil }
  }

  private func keep(_ bytes: ByteBuffer, as name: PhotoFileName, unlessDeletedSince deletions: Int) {
    let entry = Entry(bytes: bytes, until: .now + lifetime)
    state.withLock { state in
      guard state.deletions == deletions else { return }
      state.add(entry, as: name)
      while state.byteCount > bytesMax { state.forgetOldest() }
    }
  }

  private func forget(_ names: [PhotoFileName]) {
    state.withLock { state in
      state.deletions += 1
      for name in names { state.forget(name) }
    }
  }
}

extension StoredBytes {
  /// - Throws: ``RangeNotSatisfiable``.
  fileprivate init(_ range: ByteRange?, of bytes: ByteBuffer) throws(RangeNotSatisfiable) {
    let count = bytes.readableBytes
    let range = try range?.resolved(in: count) ?? 0..<count
    let part = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    self.init(totalCount: count, range: range, content: .whole(part))
  }

  fileprivate func collected() async throws -> ByteBuffer {
    switch content {
    case .whole(let bytes): return bytes
    case .pieces(let give):
      var bytes = ByteBuffer()
      try await give { piece in bytes.writeImmutableBuffer(piece) }
      return bytes
    }
  }
}
