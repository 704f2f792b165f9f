import Clients
import Foundation
import Messages
import Wire

/// Decides whom a user may name by an id: somebody with whom they share a list, a group or a collection, or whose phone
/// number they have shown to know. All others are nobody, whether or not they are there.
struct NamedPeople: Sendable {
  let users: UsersClient
  let groups: GroupsClient
  let lists: ListsClient
  let checks: ContactChecks

  /// Somebody as an app names them: by an id, and perhaps by their number.
  struct Name: Sendable {
    let id: UserID?
    /// As the app wrote it.
    var phone: String?
  }

  enum Answer: Sendable {
    case nobody
    /// They may be named, but this is not a number by which they want to be found.
    case otherPhone
    /// With the number that the asker knows of them.
    case person(Person, phone: PhoneNumber?)
  }

  /// An answer for each name. Numbers are counted as those of ``ContactChecks`` are. Lists and groups are asked only
  /// about those whom no number settles, whether or not there is somebody of that id.
  ///
  /// - Throws: 429; 503 when one of those who know does not answer.
  func answers(_ names: [Name], for asker: Asker, at now: Date) async throws -> [Answer] {
    let ids = Set(names.compactMap(\.id))
    let phones = Set(names.compactMap { $0.phone.flatMap { PhoneNumber($0)?.text } })
    try await checks.count(phones, for: asker, at: now)
    let people = try await users.people(ids)
    // Only those are behind their number who want to be found by it.
    let named = try await numbers(phones)
    let looked = try await checks.known(among: Set(people.values.compactMap(\.phone)), by: asker.user, at: now)
    var knowledge = Knowledge(people: people, named: named, looked: try await numbers(looked), shared: [asker.user])
    let unsettled = knowledge.unsettled(names)
    async let inGroups = groups.relations(of: asker.user, to: unsettled)
    async let inLists = lists.relations(of: asker.user, to: unsettled)
    knowledge.shared.formUnion(try await inGroups.merging(inLists).shared)
    return names.map { knowledge.answer($0) }
  }

  private func numbers(_ phones: Set<String>) async throws -> [UserID: String] {
    guard !phones.isEmpty else { return [:] }
    let found = try await checks.people(behind: phones).compactMap { person in person.phone.map { (person.id, $0) } }
    return Dictionary(found) { $1 }
  }

  /// What is known of everybody whom one call names.
  private struct Knowledge {
    let people: [UserID: Person]
    let named: [UserID: String]
    let looked: [UserID: String]
    var shared: Set<UserID>

    /// Those about whom nothing else decides but whether they share something with the asker.
    func unsettled(_ names: [Name]) -> Set<UserID> {
      Set(names.filter { !hasRightPhone($0) }.compactMap(\.id).filter { looked[$0] == nil && !shared.contains($0) })
    }

    private func hasRightPhone(_ name: Name) -> Bool {
      guard let id = name.id, let phone = name.phone.flatMap({ PhoneNumber($0) }) else { return false }
      return named[id] == phone.text
    }

    func answer(_ name: Name) -> Answer {
      guard let id = name.id, let person = people[id] else { return .nobody }
      let mayBeNamed = shared.contains(id) || looked[id] != nil
      guard let phone = name.phone else {
        return mayBeNamed ? .person(person, phone: looked[id].flatMap { PhoneNumber($0) }) : .nobody
      }
      guard let number = PhoneNumber(phone), named[id] == number.text else {
        return mayBeNamed ? .otherPhone : .nobody
      }
      return .person(person, phone: number)
    }
  }
}
