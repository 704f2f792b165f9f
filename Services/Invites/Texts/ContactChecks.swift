import Clients
import Database
import Foundation
import Messages
import Quotas
import Web
import Wire

/// Finds out which of somebody's contacts have the app. Rationed, as whoever could ask without end could ask for every
/// number there is; and whoever does not want to be found is not.
struct ContactChecks: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient
  let perDay: Quota

  /// - Throws: ``StartFailure`` for a setting that is no number.
  init(_ settings: Settings, database: any Database, quotas: QuotaStore, users: UsersClient) throws {
    self.database = database
    self.quotas = quotas
    self.users = users
    let limit = try settings.int("CONTACT_CHECKS_PER_DAY", default: 2000, in: 0...1_000_000)
    perDay = Quota(name: "numbers checked", limit: limit, window: .seconds(86_400))
  }

  /// The people behind those of `numbers` that are somebody's.
  ///
  /// - Parameter numbers: at most 500, as the app wrote them.
  /// - Throws: 429.
  func people(behind numbers: Set<String>, for user: UserID, at now: Date) async throws -> [String: Person] {
    let known = Dictionary(grouping: numbers) { PhoneNumber($0)?.text }
    let phones = Set(known.keys.compactMap { $0 })
    try await ration(numbers.count, for: user, at: now)
    guard !phones.isEmpty else { return [:] }
    var found: [String: Person] = [:]
    for person in try await users.people(behind: phones) {
      for number in known[person.phone] ?? [] { found[number] = person }
    }
    return found
  }

  /// - Throws: 429.
  func ration(_ count: Int, for user: UserID, at now: Date) async throws {
    guard count > 0 else { return }
    try await database.write { db in
      try quotas.take(perDay, count, for: user.description, at: now, on: db)
    }
  }
}
