import Clients
import Foundation
import Messages
import Wire

/// Decides whom a user may address by an id: a user with whom they share a list, a group or a collection, or whose
/// phone number they have shown that they have. Everybody else gets the same answer as an unknown id.
struct ContactVisibility: Sendable {
  let users: UsersClient
  let groups: GroupsClient
  let lists: ListsClient
  let contactDiscovery: ContactDiscovery

  /// A user as a request addresses them: by an id, and optionally by a phone number.
  struct Reference: Sendable {
    let id: UserID?
    /// As the app wrote it.
    var phone: String?
  }

  /// What the requester may know about a referenced user.
  enum Resolution: Sendable {
    /// There is no such user, or the requester may not address them.
    case notVisible
    /// The user may be addressed, but cannot be found by the phone number in the reference.
    case phoneMismatch
    /// The user, with the phone number that the requester has of them, if any.
    case visible(Person, phone: PhoneNumber?)
  }

  /// Resolves each reference. Numbers are counted as in ``ContactDiscovery``. Lists and groups are queried only for ids
  /// that no phone number resolves, whether or not a user has that id.
  ///
  /// - Throws: 429; 503 when a service does not answer.
  func resolve(_ references: [Reference], for requester: Requester, at now: Date) async throws -> [Resolution] {
    let ids = Set(references.compactMap(\.id))
    let phones = Set(references.compactMap { $0.phone.flatMap { PhoneNumber($0)?.text } })
    try await contactDiscovery.count(phones, for: requester, at: now)
    let people = try await users.people(ids)
    // Users who do not want to be found by their number are left out.
    let byGivenNumber = try await findableNumbers(phones)
    let lookedUp = try await contactDiscovery.lookedUp(
      among: Set(people.values.compactMap(\.phone)), by: requester.user, at: now)
    var contacts = KnownContacts(
      people: people, givenNumbers: byGivenNumber, lookedUpNumbers: try await findableNumbers(lookedUp),
      sharing: [requester.user])
    let unresolvedIDs = contacts.unresolvedIDs(references)
    async let inGroups = groups.relations(of: requester.user, to: unresolvedIDs)
    async let inLists = lists.relations(of: requester.user, to: unresolvedIDs)
    contacts.sharing.formUnion(try await inGroups.merging(inLists).shared)
    return references.map { contacts.resolution(of: $0) }
  }

  /// The users who can be found by one of `phones`, with that number.
  private func findableNumbers(_ phones: Set<String>) async throws -> [UserID: String] {
    guard !phones.isEmpty else { return [:] }
    let found = try await contactDiscovery.people(withPhones: phones)
      .compactMap { person in person.phone.map { (person.id, $0) } }
    return Dictionary(found) { $1 }
  }

  /// What is known about the users whom one request references.
  private struct KnownContacts {
    let people: [UserID: Person]
    /// The numbers in the request by which users can be found.
    let givenNumbers: [UserID: String]
    /// The numbers that the requester has looked up and by which users can be found.
    let lookedUpNumbers: [UserID: String]
    /// Users who share a list, a group or a collection with the requester, and the requester.
    var sharing: Set<UserID>

    /// The ids about which only the services that own lists and groups can decide.
    func unresolvedIDs(_ references: [Reference]) -> Set<UserID> {
      let unmatched = references.filter { !hasMatchingPhone($0) }.compactMap(\.id)
      return Set(unmatched.filter { lookedUpNumbers[$0] == nil && !sharing.contains($0) })
    }

    private func hasMatchingPhone(_ reference: Reference) -> Bool {
      guard let id = reference.id, let phone = reference.phone.flatMap({ PhoneNumber($0) }) else { return false }
      return givenNumbers[id] == phone.text
    }

    func resolution(of reference: Reference) -> Resolution {
      guard let id = reference.id, let person = people[id] else { return .notVisible }
      let isVisible = sharing.contains(id) || lookedUpNumbers[id] != nil
      guard let phone = reference.phone else {
        return isVisible ? .visible(person, phone: lookedUpNumbers[id].flatMap { PhoneNumber($0) }) : .notVisible
      }
      guard let number = PhoneNumber(phone), givenNumbers[id] == number.text else {
        return isVisible ? .phoneMismatch : .notVisible
      }
      return .visible(person, phone: number)
    }
  }
}
