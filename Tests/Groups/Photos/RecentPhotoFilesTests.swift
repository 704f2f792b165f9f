import Foundation
import NIOCore
import Support
import Synchronization
import Testing
import Wire

@testable import Groups

/// What is kept in memory of the bytes of photos.
@Suite struct RecentPhotoFilesTests {
  private let name = PhotoFileName(.new(at: Date()), .large)

  private func bytes(_ stored: StoredBytes?) -> [UInt8]? {
    guard case .whole(let buffer) = stored?.content else { return nil }
    return Array(buffer.readableBytesView)
  }

  @Test func whatHasBeenReadIsReadAgainFromMemory() async throws {
    let slow = Shelf([name: Array(0..<200)])
    let files = RecentPhotoFiles(slow)
    // A part does not make the whole known.
    let part = try await files.read(name, .from(10, through: 19))
    #expect(bytes(part) == Array(10..<20) && part?.totalCount == 200)
    #expect(slow.reads == 1)
    let whole = try await files.read(name, nil)
    #expect(bytes(whole) == Array(0..<200) && slow.reads == 2)
    for (range, wanted) in [
      (nil, 0..<200), (.from(190, through: nil), 190..<200), (.last(5), 195..<200), (.from(0, through: 0), 0..<1),
      (.from(50, through: 9999), 50..<200),
    ] as [(ByteRange?, Range<UInt8>)] {
      let read = try await files.read(name, range)
      #expect(bytes(read) == Array(wanted) && read?.totalCount == 200)
      #expect(read?.range == Int(wanted.lowerBound)..<Int(wanted.upperBound))
    }
    await #expect(throws: RangeNotSatisfiable.self) { _ = try await files.read(name, .from(200, through: nil)) }
    #expect(slow.reads == 2)
    let missing = try await files.read(PhotoFileName(.new(at: Date()), .large), nil)
    #expect(missing == nil)
    let small = try await files.read(PhotoFileName(name.photo, .small), nil)
    #expect(small == nil)
  }

  @Test func whatIsDeletedIsGoneFromMemory() async throws {
    let shelf = Shelf([name: [1, 2, 3]])
    let files = RecentPhotoFiles(shelf)
    let before = try await files.read(name, nil)
    #expect(bytes(before) == [1, 2, 3])
    try await files.delete([name])
    let after = try await files.read(name, nil)
    #expect(after == nil)
    // Also where the store does not let go of it.
    let other = PhotoFileName(.new(at: Date()), .small)
    let stuck = Shelf([other: [4]], isStuck: true)
    let stuckFiles = RecentPhotoFiles(stuck)
    _ = try await stuckFiles.read(other, nil)
    await #expect(throws: Failure.self) { try await stuckFiles.delete([other]) }
    _ = try await stuckFiles.read(other, nil)
    #expect(stuck.reads == 2)
  }

  /// The bytes come just when the photo is deleted: they are handed out, as a moment before, and not kept.
  @Test func whatWasBeingReadWhenItWasDeletedIsNotKept() async throws {
    let shelf = Shelf([name: [1, 2, 3]])
    let files = RecentPhotoFiles(shelf)
    shelf.duringRead { try await files.delete([self.name]) }
    let under = try await files.read(name, nil)
    #expect(bytes(under) == [1, 2, 3])
    shelf.duringRead(nil)
    let after = try await files.read(name, nil)
    #expect(after == nil)
  }

  @Test func nothingStaysForLong() async throws {
    let shelf = Shelf([name: [1, 2, 3]])
    let patient = RecentPhotoFiles(shelf, lifetime: .seconds(600))
    _ = try await patient.read(name, nil)
    patient.tidy()
    #expect(patient.byteCount == 3 && shelf.reads == 1)
    let files = RecentPhotoFiles(shelf, lifetime: .milliseconds(30))
    _ = try await files.read(name, nil)
    #expect(files.byteCount == 3)
    try await Task.sleep(for: .milliseconds(40))
    _ = try await files.read(name, .last(1))
    #expect(shelf.reads == 3)
    files.tidy()
    #expect(files.byteCount == 0)
  }

  @Test func thereIsNeverTooMuchOfIt() async throws {
    let names = (0..<50).map { _ in PhotoFileName(.new(at: Date()), .large) }
    let shelf = Shelf(Dictionary(uniqueKeysWithValues: names.map { ($0, Array(repeating: 7, count: 100)) }))
    let files = RecentPhotoFiles(shelf, bytesMax: 1000)
    for name in names {
      _ = try await files.read(name, nil)
      #expect(files.byteCount <= 1000)
    }
    // The latest are there.
    for name in names.suffix(10) { _ = try await files.read(name, nil) }
    #expect(shelf.reads == 50 && files.byteCount == 1000)
    // One that is too large for it comes as it is.
    let large = PhotoFileName(.new(at: Date()), .large)
    shelf.put(Array(repeating: 1, count: 600 * 1024), as: large)
    let roomy = RecentPhotoFiles(shelf)
    let read = try await roomy.read(large, nil)
    #expect(read?.totalCount == 600 * 1024 && roomy.byteCount == 0)
  }

  @Test func aStoreThatBreaksOffIsAway() async throws {
    try await withPlace(.sqlite) { place in
      try await withStored(.bucket, in: place) { stored in
        try await stored.files.store(Array(repeating: 7, count: 100_000), as: name)
        try await stored.files.store([1, 2, 3, 4], as: PhotoFileName(name.photo, .original))
        let store = try #require(stored.store)
        store.breaksOff = true
        let files = RecentPhotoFiles(stored.files)
        await #expect(throws: Failure.unavailable) { _ = try await files.read(name, nil) }
        await #expect(throws: Failure.unavailable) {
          _ = try await files.original(of: name.photo, into: stored.local.incoming)
        }
        store.breaksOff = false
        let whole = try await files.read(name, nil)
        #expect(bytes(whole)?.count == 100_000)
      }
    }
  }

  /// A file that comes in pieces is put together; many who ask at once all get it.
  @Test func piecesArePutTogether() async throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let files = RecentPhotoFiles(Shelf([name: bytes], pieceLength: 7000))
    let name = name
    let read = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          guard case .whole(let buffer) = try await files.read(name, nil)?.content else { return false }
          return Array(buffer.readableBytesView) == bytes
        }
      }
      return try await group.reduce(true) { $0 && $1 }
    }
    #expect(read && files.byteCount == 100_000)
  }
}

/// Files in memory that count how often they are read.
private final class Shelf: PhotoFiles {
  private struct State {
    var files: [PhotoFileName: [UInt8]]
    var reads = 0
    var duringRead: (@Sendable () async throws -> Void)?
  }

  private let state: Mutex<State>
  private let isStuck: Bool
  private let pieceLength: Int?

  init(_ files: [PhotoFileName: [UInt8]], isStuck: Bool = false, pieceLength: Int? = nil) {
    state = Mutex(State(files: files))
    self.isStuck = isStuck
    self.pieceLength = pieceLength
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
    guard let pieceLength else {
      return StoredBytes(totalCount: bytes.count, range: part, content: .whole(ByteBuffer(bytes: bytes[part])))
    }
    return StoredBytes(
      totalCount: bytes.count, range: part,
      content: .pieces { take in
        for start in stride(from: 0, to: bytes.count, by: pieceLength) {
          await Task.yield()
          try await take(ByteBuffer(bytes: bytes[start..<min(start + pieceLength, bytes.count)]))
        }
      })
  }

  func delete(_ names: [PhotoFileName]) async throws {
    guard !isStuck else { throw Failure.unavailable }
    state.withLock { state in for name in names { state.files[name] = nil } }
  }

  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws { put(bytes, as: name) }
  func original(of photo: PhotoID, into folder: String) async throws -> UploadedFile? { nil }
  func list(after name: PhotoFileName?) async throws -> [PhotoFileName] { [] }
  func uploadURL(of photo: PhotoID, byteCount: Int, for lifetime: Duration) -> String? { nil }
  func mark() async throws -> StoreMarkID? { nil }
  func place(_ mark: StoreMarkID) async throws {}
}
