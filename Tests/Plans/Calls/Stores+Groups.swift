import Foundation
import Support
import Wire

@testable import Groups

extension Calls {
  /// What the sweep does after a crash or a restored backup.
  func groupStoreCalls() async throws {
    let now = stack.clock.now
    try await withDatabase(of: "groups") { database in
      let store = PhotoSweepStore(database: database)
      let photos = (0..<100).map { _ in PhotoID.new(at: now) }
      _ = try await store.existing(among: photos)
      _ = try await store.ready(among: photos)
      _ = try await store.ready(from: nil, after: nil, before: nil, limit: 100)
      try await store.postpone(photos, until: now, at: now)
      try await store.end(photos, at: now)
      try await store.insert(.new(at: now))
      try await store.setMarkerWritten()
      try await store.delete([GroupID.new(at: now)])
      let discarded = DiscardedFileStore(database: database)
      let file = StoredFileID.new(at: now)
      try await discarded.addPending(file, at: now)
      try await discarded.giveUp(file, at: now)
      _ = try await discarded.due(at: now, limit: 100)
      try await discarded.delete([file])
    }
  }
}
