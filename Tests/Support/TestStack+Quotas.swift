import Database

extension TestStack {
  /// Sets how much is taken of a quota that is counted under one key.
  package func setTaken(_ taken: Int, ofQuota name: String, in service: String) async throws {
    let database = try await testDatabase.open(service, [])
    let changed = try await database.write { db in
      try db.change("update quota set taken = \(taken) where name = \(name)")
    }
    await database.close()
    guard changed == 1 else { throw Unexpected(reply: "\(changed) counts of \(name)") }
  }
}
