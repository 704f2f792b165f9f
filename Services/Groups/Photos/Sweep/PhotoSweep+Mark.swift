import Foundation
import Wire

/// What says that a store and a database belong together: the same id in both.
struct StoreMark: Sendable, Hashable {
  let id: StoreMarkID
  /// Whether the store has it, too. From then on one without it is another store.
  let isPlaced: Bool
}

typealias StoreMarkID = ID<StoreMark>

extension StoreMarkID {
  /// As it is written: 32 digits and four hyphens.
  static var textLength: Int { 36 }
}

/// A folder that is not mounted, a bucket of somebody else or a database that was set up anew look like lost photos, or
/// like photos of nobody: without this, one process that is set up wrongly would end them for all.
extension PhotoSweep {
  func isOwnStore(before time: Date) async throws -> Bool {
    let found = try await files.mark()
    if try await remains.storeMark() == nil {
      guard found == nil, try await fits(before: time) else { return false }
      try await remains.note(.new(at: now()))
    }
    guard let mark = try await remains.storeMark() else { return false }
    if let found, found != mark.id { return false }
    guard !mark.isPlaced else { return found != nil }
    if found == nil {
      guard try await fits(before: time) else { return false }
      try await files.place(mark.id)
    }
    try await remains.noteThatTheMarkIsPlaced()
    return true
  }

  /// Whether the photos that should be there are, or neither side has any.
  private func fits(before time: Date) async throws -> Bool {
    let ready = try await remains.ready(from: nil, after: nil, before: nil, limit: Self.batch)
    guard !ready.isEmpty else { return try await files.list(after: nil).isEmpty }
    var isAnyHere = false
    for photo in ready {
      let isHere = try await files.read(PhotoFileName(photo, .large), .from(0, through: 0)) != nil
      guard isHere || !photo.isOlder(than: time) else { return false }
      isAnyHere = isAnyHere || isHere
    }
    return isAnyHere
  }
}
