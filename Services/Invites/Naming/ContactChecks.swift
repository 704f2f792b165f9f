import Clients
import Database
import Foundation
import Messages
import Quotas
import Tokens
import Web
import Wire

/// Whoever does something that is counted, and from where.
struct Asker: Sendable {
  let user: UserID
  let place: String
}

/// Finds out which of somebody's contacts have the app. Rationed, as whoever could ask without end could ask for every
/// number there is; and whoever does not want to be found is not.
struct ContactChecks: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient
  private let checked: CheckedNumbers
  private let perDay: Quota
  private let perAddress: Quota

  /// - Throws: ``StartFailure`` for a setting that is no number.
  init(_ settings: Settings, database: any Database, quotas: QuotaStore, users: UsersClient) throws {
    self.database = database
    self.quotas = quotas
    self.users = users
    checked = CheckedNumbers(keys: quotas.keys)
    func quota(_ name: String, _ variable: String, _ fallback: Int) throws -> Quota {
      Quota(
        name: name, limit: try settings.int(variable, default: fallback, in: 0...1_000_000), window: .seconds(86_400))
    }
    perDay = try quota("numbers checked", "CONTACT_CHECKS_PER_DAY", 5000)
    perAddress = try quota("numbers checked here", "CONTACT_CHECKS_PER_ADDRESS_DAY", 20_000)
  }

  /// The people behind those of `numbers` that are somebody's.
  ///
  /// - Parameter numbers: as the app wrote them.
  /// - Throws: 429.
  func people(behind numbers: Set<String>, for asker: Asker, at now: Date) async throws -> [String: Person] {
    let known = Dictionary(grouping: numbers) { PhoneNumber($0)?.text }
    let phones = Set(known.keys.compactMap { $0 })
    try await count(phones, for: asker, at: now)
    var found: [String: Person] = [:]
    for person in try await people(behind: phones) {
      for number in known[person.phone] ?? [] { found[number] = person }
    }
    return found
  }

  /// The same of numbers in international form that have been counted, in calls of ``WhoAre/idsMax``.
  func people(behind phones: Set<String>) async throws -> [Person] {
    var (found, left): ([Person], ArraySlice<String>) = ([], Array(phones)[...])
    while !left.isEmpty {
      found += try await users.people(behind: Set(left.prefix(WhoAre.idsMax)))
      left = left.dropFirst(WhoAre.idsMax)
    }
    return found
  }

  /// Counts those that the user has not looked up in the last thirty days.
  ///
  /// - Throws: 429; then none is counted.
  func count(_ phones: Set<String>, for asker: Asker, at now: Date) async throws {
    guard !phones.isEmpty else { return }
    try await database.write { [quotas, checked, perDay, perAddress] db in
      let new = try checked.note(phones, by: asker.user, at: now, on: db)
      guard new > 0 else { return }
      try quotas.take(perDay, new, for: asker.user.description, at: now, on: db)
      try quotas.take(perAddress, new, for: asker.place, at: now, on: db)
    }
  }

  /// Those of `phones` that the user has looked up in the last thirty days.
  func known(among phones: Set<String>, by user: UserID, at now: Date) async throws -> Set<String> {
    try await database.read { [checked] db in try checked.known(among: phones, by: user, at: now, on: db) }
  }
}
