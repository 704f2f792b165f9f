import Clients
import Database
import Foundation
import Messages
import Quotas
import Tokens
import Web
import Wire

/// A user who makes a rate-limited request, and the address that it comes from.
struct Requester: Sendable {
  let user: UserID
  let clientAddress: String
}

/// Finds the users among a user's contacts by phone number. Limited, so that nobody can look up every number there is.
/// Users who do not want to be found by their number are not found.
struct ContactDiscovery: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient
  private let checkedNumbers: CheckedNumberStore
  private let perDay: Quota
  private let perAddress: Quota

  /// - Throws: ``StartFailure`` for a setting that is not a number.
  init(_ settings: Settings, database: any Database, quotas: QuotaStore, users: UsersClient) throws {
    self.database = database
    self.quotas = quotas
    self.users = users
    checkedNumbers = CheckedNumberStore(keys: quotas.keys)
    func quota(_ name: String, _ variable: String, _ fallback: Int) throws -> Quota {
      Quota(
        name: name, limit: try settings.int(variable, default: fallback, in: 0...1_000_000), window: .seconds(86_400))
    }
    perDay = try quota("numbers checked", "CONTACT_CHECKS_PER_DAY", 5000)
    perAddress = try quota("numbers checked here", "CONTACT_CHECKS_PER_ADDRESS_DAY", 20_000)
  }

  /// The users who have one of `numbers`, by number.
  ///
  /// - Parameter numbers: as the app wrote them.
  /// - Throws: 429.
  func people(
    withNumbers numbers: Set<String>, for requester: Requester, at now: Date
  ) async throws -> [String: Person] {
    let numbersByPhone = Dictionary(grouping: numbers) { PhoneNumber($0)?.text }
    let phones = Set(numbersByPhone.keys.compactMap { $0 })
    try await count(phones, for: requester, at: now)
    var found: [String: Person] = [:]
    for person in try await people(withPhones: phones) {
      for number in numbersByPhone[person.phone] ?? [] { found[number] = person }
    }
    return found
  }

  /// The same for numbers in international form that have been counted, in calls of at most ``PeopleQuery/idsMax``.
  func people(withPhones phones: Set<String>) async throws -> [Person] {
    var (found, left): ([Person], ArraySlice<String>) = ([], Array(phones)[...])
    while !left.isEmpty {
      found += try await users.people(withPhones: Set(left.prefix(PeopleQuery.idsMax)))
      left = left.dropFirst(PeopleQuery.idsMax)
    }
    return found
  }

  /// Counts the numbers that the user has not looked up in the last thirty days.
  ///
  /// - Throws: 429; then none is counted.
  func count(_ phones: Set<String>, for requester: Requester, at now: Date) async throws {
    guard !phones.isEmpty else { return }
    try await database.write { [quotas, checkedNumbers, perDay, perAddress] db in
      let new = try checkedNumbers.record(phones, by: requester.user, at: now, on: db)
      guard new > 0 else { return }
      try quotas.take(perDay, new, for: requester.user.description, at: now, on: db)
      try quotas.take(perAddress, new, for: requester.clientAddress, at: now, on: db)
    }
  }

  /// The numbers among `phones` that the user has looked up in the last thirty days.
  func lookedUp(among phones: Set<String>, by user: UserID, at now: Date) async throws -> Set<String> {
    try await database.read { [checkedNumbers] db in
      try checkedNumbers.lookedUp(among: phones, by: user, at: now, on: db)
    }
  }
}
