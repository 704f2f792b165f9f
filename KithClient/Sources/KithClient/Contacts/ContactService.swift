import Foundation

/// Who of the address book has the app, and whom the user chooses for a group.
public actor ContactService {
  /// A group has twelve members, of whom one is the user.
  public static let chosenMax = 11

  /// Contacts by what is to be done: to be added, or to be invited.
  public struct Sections: Sendable, Equatable {
    public var alreadyOn: [Contact] = []
    public var toInvite: [Contact] = []
  }

  private let invites: Invites
  private let addressBook: any AddressBook
  private let callingCode: String
  private var contacts: [Contact] = []
  /// In the order in which they were chosen.
  private(set) public var chosen: [Contact] = []

  /// - Parameter callingCode: of the user's country, such as `49`, for numbers that are typed without one.
  public init(client: KithClient, addressBook: any AddressBook, callingCode: String) {
    invites = client.invites
    self.addressBook = addressBook
    self.callingCode = callingCode
  }

  /// Reads the address book, and asks the server who has the app, 2,000 numbers at a time.
  ///
  /// - Throws: ``AddressBookDenied``, and the failures of a call.
  @discardableResult
  public func load() async throws -> Sections {
    var read = Self.contacts(of: try await addressBook.people(), callingCode: callingCode)
    let numbers = Array(Set(read.map(\.phoneNumber))).sorted()
    var users: [String: ContactCheck.User] = [:]
    for start in stride(from: 0, to: numbers.count, by: Invites.numbersMax) {
      let batch = Array(numbers[start..<min(start + Invites.numbersMax, numbers.count)])
      for user in try await invites.check(batch).existing { users[user.phoneNumber] = user }
    }
    for index in read.indices { read[index].user = users[read[index].phoneNumber] }
    contacts = read
    let ids = Set(read.map(\.id))
    chosen.removeAll { !ids.contains($0.id) }
    return sections(matching: "")
  }

  /// - Parameter query: a part of a name or of a number; empty: all.
  public func sections(matching query: String) -> Sections {
    let query = query.trimmingCharacters(in: .whitespaces)
    let digits = query.filter(\.isNumber)
    var sections = Sections()
    for contact in contacts {
      let isNamed = contact.fullName.range(of: query, options: [.caseInsensitive, .diacriticInsensitive]) != nil
      guard query.isEmpty || isNamed || !digits.isEmpty && contact.phoneNumber.contains(digits) else { continue }
      if contact.hasApp { sections.alreadyOn.append(contact) } else { sections.toInvite.append(contact) }
    }
    return sections
  }

  /// Chooses a contact, or takes the choice back.
  ///
  /// - Returns: whether the contact is chosen now. A twelfth is not.
  @discardableResult
  public func toggle(_ id: Contact.ID) -> Bool {
    if let index = chosen.firstIndex(where: { $0.id == id }) {
      chosen.remove(at: index)
      return false
    }
    guard chosen.count < Self.chosenMax, let contact = contacts.first(where: { $0.id == id }),
      !chosen.contains(where: { $0.phoneNumber == contact.phoneNumber })
    else { return false }
    chosen.append(contact)
    return true
  }

  /// Adds and invites the chosen, and forgets the choice.
  public func inviteChosen(to group: SharedGroup.ID) async throws -> SentInvites {
    let sent = try await invites.send(
      to: group, phoneNumbers: chosen.filter { !$0.hasApp }.map(\.phoneNumber), adding: chosen.compactMap(\.user))
    chosen = []
    return sent
  }

  /// One contact for each valid number of each person, by name.
  static func contacts(of people: [AddressBookPerson], callingCode: String) -> [Contact] {
    var contacts: [Contact] = []
    for person in people {
      var numbers: Set<String> = []
      for typed in person.phoneNumbers {
        guard let number = PhoneNumber(typed, inCountry: callingCode)?.text, numbers.insert(number).inserted else {
          continue
        }
        contacts.append(
          Contact(
            id: "\(person.id)_\(number)", givenName: person.givenName, familyName: person.familyName,
            phoneNumber: number))
      }
    }
    return contacts.sorted { ($0.fullName, $0.phoneNumber) < ($1.fullName, $1.phoneNumber) }
  }
}
