import DequeModule
import Foundation
import NIOCore
import Synchronization

/// Caches files in memory for some seconds after they were read: all members of a group fetch a new photo at about the
/// same time.
///
/// Entries expire after ``lifetime``, are freed by the next ``removeExpired()``, and are removed at once when this
/// process deletes the file.
package final class PhotoFileCache: PhotoFiles {
  private struct Entry {
    let bytes: ByteBuffer
    let expiresAt: ContinuousClock.Instant
  }

  private struct State {
    var entries: [PhotoFileName: Entry] = [:]
    /// The oldest first. May contain entries that were removed or replaced since.
    var order: Deque<(name: PhotoFileName, expiresAt: ContinuousClock.Instant)> = []
    var byteCount = 0
    /// Counts invalidations, so that a file that was being read during one is not cached.
    var invalidations = 0

    mutating func insert(_ entry: Entry, as name: PhotoFileName) {
      remove(name)
      entries[name] = entry
      order.append((name, entry.expiresAt))
      byteCount += entry.bytes.readableBytes
    }

    mutating func removeOldest() {
      guard let (name, expiresAt) = order.popFirst(), entries[name]?.expiresAt == expiresAt else { return }
      remove(name)
    }

    mutating func remove(_ name: PhotoFileName) {
      byteCount -= entries.removeValue(forKey: name)?.bytes.readableBytes ?? 0
    }
  }

  private let files: any PhotoFiles
  private let state = Mutex(State())
  private let bytesMax: Int
  private let lifetime: Duration
  /// Larger files are rare and are not cached: each would evict many others.
  private static let fileBytesMax = 512 * 1024

  package init(_ files: any PhotoFiles, bytesMax: Int = 32 * 1024 * 1024, lifetime: Duration = .seconds(10)) {
    self.files = files
    self.bytesMax = bytesMax
    self.lifetime = lifetime
  }

  package func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    if let bytes = cached(name) { return try StoredBytes(range, of: bytes) }
    let invalidations = state.withLock(\.invalidations)
    guard let stored = try await files.read(name, range) else { return nil }
    guard range == nil, stored.totalCount <= Self.fileBytesMax else { return stored }
    let bytes = try await stored.collected()
    insert(bytes, as: name, ifInvalidationsAre: invalidations)
    return try StoredBytes(nil, of: bytes)
  }

  package func delete(_ names: [PhotoFileName]) async throws {
    invalidate(names)
    try await files.delete(names)
    invalidate(names)
  }

  package func store(_ bytes: [UInt8], as name: PhotoFileName) async throws {
    try await files.store(bytes, as: name)
    invalidate([name])
  }

  package func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await files.store(file, as: name)
    invalidate([name])
  }

  /// The size of all cached files.
  var byteCount: Int { state.withLock(\.byteCount) }

  package func removeExpired() {
    let now = ContinuousClock.now
    state.withLock { state in
      while let first = state.order.first, first.expiresAt <= now { state.removeOldest() }
    }
  }

  package func original(of id: UUID, into folder: String) async throws -> UploadedFile? {
    try await files.original(of: id, into: folder)
  }

  package func marker() async throws -> StorageMarkerID? { try await files.marker() }

  package func writeMarker(_ marker: StorageMarkerID) async throws { try await files.writeMarker(marker) }

  package func list(after name: PhotoFileName?) async throws -> [PhotoFileName] { try await files.list(after: name) }

  package func uploadURL(of id: UUID, byteCount: Int, for lifetime: Duration) -> String? {
    files.uploadURL(of: id, byteCount: byteCount, for: lifetime)
  }

  package func cached(_ name: PhotoFileName) -> ByteBuffer? {
    state.withLock { $0.entries[name] }.flatMap { $0.expiresAt > .now ? $0.bytes : nil }
  }

  private func insert(_ bytes: ByteBuffer, as name: PhotoFileName, ifInvalidationsAre invalidations: Int) {
    let entry = Entry(bytes: bytes, expiresAt: .now + lifetime)
    state.withLock { state in
      guard state.invalidations == invalidations else { return }
      state.insert(entry, as: name)
      while state.byteCount > bytesMax { state.removeOldest() }
    }
  }

  private func invalidate(_ names: [PhotoFileName]) {
    state.withLock { state in
      state.invalidations += 1
      for name in names { state.remove(name) }
    }
  }
}

extension StoredBytes {
  /// - Throws: ``RangeNotSatisfiable``.
  fileprivate init(_ range: ByteRange?, of bytes: ByteBuffer) throws(RangeNotSatisfiable) {
    let count = bytes.readableBytes
    let range = try range?.resolved(in: count) ?? 0..<count
    let part = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    self.init(totalCount: count, range: range, content: .buffer(part))
  }

  fileprivate func collected() async throws -> ByteBuffer {
    switch content {
    case .buffer(let bytes): return bytes
    case .chunks(let forEachChunk):
      var bytes = ByteBuffer()
      try await forEachChunk { chunk in bytes.writeImmutableBuffer(chunk) }
      return bytes
    }
  }
}
