import Clients
import Foundation
import Synchronization
import Web
import Wire

/// Who is who: asked of auth in one call for everybody in an answer, and remembered for a minute.
final class Acquaintances: Sendable {
  private struct Entry {
    /// nil for who is not there any more.
    let person: Person?
    var goodUntil: Date
  }

  private let users: UsersClient
  private let now: @Sendable () -> Date
  private let entries = Mutex<[UserID: Entry]>([:])
  private let silence = Silence()
  private static let goodSeconds = 60.0
  /// How long what is known stays good when auth does not answer, until it is asked again.
  private static let graceSeconds = 5.0
  private static let entriesMax = 20_000

  init(users: UsersClient, now: @escaping @Sendable () -> Date) {
    self.users = users
    self.now = now
  }

  /// Those of `ids` who are there, as others see them. Auth is asked about whom is not known, once for all of them.
  ///
  /// - Parameter open: whose e-mail addresses the answer shows. Everybody else's stay hidden.
  func people(_ ids: Set<UserID>, showing open: Set<UserID> = []) async throws -> [UserID: Person] {
    let people: [UserID: Person]
    do { people = try remembered(ids) } catch {
      // Not looked up again: so many may be answered at once that some are forgotten in between.
      people = error.known.merging(try await meet(error.ids)) { $1 }
    }
    return Self.shown(people, open)
  }

  /// The same without asking anybody, for use within a transaction.
  ///
  /// - Throws: ``Unacquainted`` with those whom to ``meet(_:)`` first.
  func known(_ ids: Set<UserID>, showing open: Set<UserID> = []) throws(Unacquainted) -> [UserID: Person] {
    Self.shown(try remembered(ids), open)
  }

  private static func shown(_ people: [UserID: Person], _ open: Set<UserID>) -> [UserID: Person] {
    people.mapValues { open.contains($0.id) ? $0 : $0.withoutAddresses }
  }

  private func remembered(_ ids: Set<UserID>) throws(Unacquainted) -> [UserID: Person] {
    let now = now()
    let (found, strangers) = entries.withLock { entries in
      var (found, strangers) = ([UserID: Person](), Set<UserID>())
      for id in ids {
        guard let entry = entries[id], entry.goodUntil > now else {
          strangers.insert(id)
          continue
        }
        found[id] = entry.person
      }
      return (found, strangers)
    }
    guard strangers.isEmpty else { throw Unacquainted(ids: strangers, known: found) }
    return found
  }

  /// Asks auth who of them is there. While it does not answer, what has been known stays good, and who has never been
  /// asked about is somebody of whom nothing is known: what people do with their lists is not auth's to stop.
  @discardableResult
  func meet(_ ids: Set<UserID>) async throws -> [UserID: Person] {
    try await silence.answer(orElse: prolonged(ids)) { [self] in
      let people = try await users.people(ids)
      remember(ids, people)
      return people
    }
  }

  private func remember(_ ids: Set<UserID>, _ people: [UserID: Person]) {
    let now = now()
    let until = now + Self.goodSeconds
    entries.withLock { entries in
      if entries.count + ids.count > Self.entriesMax { entries = entries.filter { $0.value.goodUntil > now } }
      if entries.count + ids.count > Self.entriesMax { entries.removeAll() }
      for id in ids.prefix(Self.entriesMax) { entries[id] = Entry(person: people[id], goodUntil: until) }
    }
  }

  private func prolonged(_ ids: Set<UserID>) -> [UserID: Person] {
    let until = now() + Self.graceSeconds
    return entries.withLock { entries in
      ids.reduce(into: [:]) { found, id in
        let person: Person? = if let entry = entries[id] { entry.person } else { Person(unknown: id) }
        found[id] = person
        // Whoever is forgotten is asked about again.
        if entries[id] == nil, entries.count >= Self.entriesMax { entries.remove(at: entries.startIndex) }
        entries[id] = Entry(person: person, goodUntil: until)
      }
    }
  }
}

extension Person {
  /// Somebody about whom auth could not be asked. Nobody's number is 0.
  fileprivate init(unknown id: UserID) { self.init(id: id, number: 0, name: nil, isProven: false) }

  fileprivate var withoutAddresses: Person {
    Person(id: id, number: number, name: name, locale: locale, timeZone: timeZone, isProven: isProven)
  }
}

/// Who does something, and where their days begin.
struct Doer: Sendable {
  let user: UserID
  let zone: TimeZone
}

extension Doer {
  fileprivate init(_ user: UserID, _ person: Person?) {
    self.init(user: user, zone: person?.timeZone.flatMap { TimeZone(identifier: $0) } ?? .gmt)
  }
}

extension Acquaintances {
  /// While nothing is known of them, their days are UTC's.
  func doer(_ user: UserID) async throws -> Doer {
    Doer(user, try await people([user])[user])
  }

  /// The same, asked anew, so that a zone that has just been changed counts at once.
  func doerNow(_ user: UserID) async throws -> Doer {
    Doer(user, try await meet([user])[user])
  }
}

/// People in an answer whom nobody has asked about yet.
struct Unacquainted: Error {
  let ids: Set<UserID>
  /// The others.
  let known: [UserID: Person]
}

/// A person as others in a list see them.
struct PersonBody: Encodable, Sendable {
  let id: Int
  let email: String
  @OrNull var name: String?

  init(_ person: Person) { self.init(person, email: nil) }

  /// - Parameter written: the address by which whoever sees this has named them.
  init(_ person: Person, email written: String?) {
    id = person.number
    email = person.email ?? written ?? ""
    _name = OrNull(wrappedValue: person.name)
  }

  private init(nobodyAt email: String) {
    id = 0
    self.email = email
    _name = OrNull(wrappedValue: nil)
  }

  /// Somebody who has been invited, by what is known of them: the address that was written.
  static func invited(_ email: String) -> PersonBody { PersonBody(nobodyAt: email) }

  /// In the place of somebody who has deleted their account. Nobody's number is 0.
  static let gone = PersonBody(nobodyAt: "")
}
