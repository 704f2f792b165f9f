import Foundation
import NIOCore
import Support
import Synchronization
import Testing
import Wire

@testable import Groups
@testable import Photos

/// Which files of photos are cached in memory, and for how long.
@Suite struct PhotoFileCacheTests {
  private let name = PhotoFileName(.new(at: Date()), .large)

  private func bytes(_ stored: StoredBytes?) -> [UInt8]? {
    guard case .buffer(let buffer) = stored?.content else { return nil }
    return Array(buffer.readableBytesView)
  }

  @Test func whatHasBeenReadIsReadAgainFromMemory() async throws {
    let base = InMemoryPhotoFiles([name: Array(0..<200)])
    let files = PhotoFileCache(base)
    // Reading a range does not cache the file.
    let part = try await files.read(name, .from(10, through: 19))
    #expect(bytes(part) == Array(10..<20) && part?.totalCount == 200)
    #expect(base.reads == 1)
    let whole = try await files.read(name, nil)
    #expect(bytes(whole) == Array(0..<200) && base.reads == 2)
    for (range, wanted) in [
      (nil, 0..<200), (.from(190, through: nil), 190..<200), (.last(5), 195..<200), (.from(0, through: 0), 0..<1),
      (.from(50, through: 9999), 50..<200),
    ] as [(ByteRange?, Range<UInt8>)] {
      let read = try await files.read(name, range)
      #expect(bytes(read) == Array(wanted) && read?.totalCount == 200)
      #expect(read?.range == Int(wanted.lowerBound)..<Int(wanted.upperBound))
    }
    await #expect(throws: RangeNotSatisfiable.self) { _ = try await files.read(name, .from(200, through: nil)) }
    #expect(base.reads == 2)
    let missing = try await files.read(PhotoFileName(.new(at: Date()), .large), nil)
    #expect(missing == nil)
    let small = try await files.read(PhotoFileName(name.photo, .small), nil)
    #expect(small == nil)
  }

  @Test func whatIsDeletedIsGoneFromMemory() async throws {
    let base = InMemoryPhotoFiles([name: [1, 2, 3]])
    let files = PhotoFileCache(base)
    let before = try await files.read(name, nil)
    #expect(bytes(before) == [1, 2, 3])
    try await files.delete([name])
    let after = try await files.read(name, nil)
    #expect(after == nil)
    // Also when the storage fails to delete it.
    let other = PhotoFileName(.new(at: Date()), .small)
    let failing = InMemoryPhotoFiles([other: [4]], failsToDelete: true)
    let failingCache = PhotoFileCache(failing)
    _ = try await failingCache.read(other, nil)
    await #expect(throws: Failure.self) { try await failingCache.delete([other]) }
    _ = try await failingCache.read(other, nil)
    #expect(failing.reads == 2)
  }

  /// A file that is read during its deletion is returned, as it would have been just before, and not cached.
  @Test func whatWasBeingReadWhenItWasDeletedIsNotKept() async throws {
    let base = InMemoryPhotoFiles([name: [1, 2, 3]])
    let files = PhotoFileCache(base)
    base.duringRead { try await files.delete([self.name]) }
    let under = try await files.read(name, nil)
    #expect(bytes(under) == [1, 2, 3])
    base.duringRead(nil)
    let after = try await files.read(name, nil)
    #expect(after == nil)
  }

  @Test func nothingStaysForLong() async throws {
    let base = InMemoryPhotoFiles([name: [1, 2, 3]])
    let longLived = PhotoFileCache(base, lifetime: .seconds(600))
    _ = try await longLived.read(name, nil)
    longLived.removeExpired()
    #expect(longLived.byteCount == 3 && base.reads == 1)
    let files = PhotoFileCache(base, lifetime: .milliseconds(30))
    _ = try await files.read(name, nil)
    #expect(files.byteCount == 3)
    try await Task.sleep(for: .milliseconds(40))
    _ = try await files.read(name, .last(1))
    #expect(base.reads == 3)
    files.removeExpired()
    #expect(files.byteCount == 0)
  }

  @Test func thereIsNeverTooMuchOfIt() async throws {
    let names = (0..<50).map { _ in PhotoFileName(.new(at: Date()), .large) }
    let base = InMemoryPhotoFiles(
      Dictionary(uniqueKeysWithValues: names.map { ($0, Array(repeating: 7, count: 100)) }))
    let files = PhotoFileCache(base, bytesMax: 1000)
    for name in names {
      _ = try await files.read(name, nil)
      #expect(files.byteCount <= 1000)
    }
    // The most recent files are cached.
    for name in names.suffix(10) { _ = try await files.read(name, nil) }
    #expect(base.reads == 50 && files.byteCount == 1000)
    // A file that is too large is returned without being cached.
    let large = PhotoFileName(.new(at: Date()), .large)
    base.put(Array(repeating: 1, count: 600 * 1024), as: large)
    let defaultCache = PhotoFileCache(base)
    let read = try await defaultCache.read(large, nil)
    #expect(read?.totalCount == 600 * 1024 && defaultCache.byteCount == 0)
  }

  @Test func aStoreThatBreaksOffIsAway() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      try await withStorage(.bucket, in: testDatabase) { stored in
        try await stored.files.store(Array(repeating: 7, count: 100_000), as: name)
        try await stored.files.store([1, 2, 3, 4], as: PhotoFileName(name.photo, .original))
        let store = try #require(stored.store)
        store.breaksOff = true
        let files = PhotoFileCache(stored.files)
        await #expect(throws: Failure.unavailable) { _ = try await files.read(name, nil) }
        await #expect(throws: Failure.unavailable) {
          _ = try await files.original(of: name.id, into: stored.local.incoming)
        }
        store.breaksOff = false
        let whole = try await files.read(name, nil)
        #expect(bytes(whole)?.count == 100_000)
      }
    }
  }

  /// A file in chunks is joined; concurrent reads all return it.
  @Test func piecesArePutTogether() async throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let files = PhotoFileCache(InMemoryPhotoFiles([name: bytes], chunkLength: 7000))
    let name = name
    let read = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          guard case .buffer(let buffer) = try await files.read(name, nil)?.content else { return false }
          return Array(buffer.readableBytesView) == bytes
        }
      }
      return try await group.reduce(true) { $0 && $1 }
    }
    #expect(read && files.byteCount == 100_000)
  }
}

/// A storage in memory that counts reads.
private final class InMemoryPhotoFiles: PhotoFiles {
  private struct State {
    var files: [PhotoFileName: [UInt8]]
    var reads = 0
    var duringRead: (@Sendable () async throws -> Void)?
  }

  private let state: Mutex<State>
  private let failsToDelete: Bool
  private let chunkLength: Int?

  init(_ files: [PhotoFileName: [UInt8]], failsToDelete: Bool = false, chunkLength: Int? = nil) {
    state = Mutex(State(files: files))
    self.failsToDelete = failsToDelete
    self.chunkLength = chunkLength
  }

  var reads: Int { state.withLock(\.reads) }

  func duringRead(_ work: (@Sendable () async throws -> Void)?) { state.withLock { $0.duringRead = work } }

  func put(_ bytes: [UInt8], as name: PhotoFileName) { state.withLock { $0.files[name] = bytes } }

  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    let (bytes, during) = state.withLock { state in
      state.reads += state.files[name] == nil ? 0 : 1
      return (state.files[name], state.duringRead)
    }
    try await during?()
    guard let bytes else { return nil }
    let part = try range?.resolved(in: bytes.count) ?? 0..<bytes.count
    guard let chunkLength else {
      return StoredBytes(totalCount: bytes.count, range: part, content: .buffer(ByteBuffer(bytes: bytes[part])))
    }
    return StoredBytes(
      totalCount: bytes.count, range: part,
      content: .chunks { write in
        for start in stride(from: 0, to: bytes.count, by: chunkLength) {
          await Task.yield()
          try await write(ByteBuffer(bytes: bytes[start..<min(start + chunkLength, bytes.count)]))
        }
      })
  }

  func delete(_ names: [PhotoFileName]) async throws {
    guard !failsToDelete else { throw Failure.unavailable }
    state.withLock { state in for name in names { state.files[name] = nil } }
  }

  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws { put(bytes, as: name) }
  func original(of id: UUID, into folder: String) async throws -> UploadedFile? { nil }
  func list(after name: PhotoFileName?) async throws -> [PhotoFileName] { [] }
  func uploadURL(of id: UUID, byteCount: Int, for lifetime: Duration) -> String? { nil }
  func marker() async throws -> StorageMarkerID? { nil }
  func writeMarker(_ marker: StorageMarkerID) async throws {}
}
