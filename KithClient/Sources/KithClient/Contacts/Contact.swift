/// A person of the address book with one of their numbers.
public struct Contact: Sendable, Hashable, Identifiable {
  /// Of the person and the number.
  public let id: String
  public let givenName: String
  public let familyName: String
  /// In E.164 form.
  public let phoneNumber: String
  /// nil: without the app.
  public var user: ContactCheck.User?

  public var hasApp: Bool { user != nil }
  public var fullName: String { [givenName, familyName].filter { !$0.isEmpty }.joined(separator: " ") }
  public var initials: String { [givenName, familyName].compactMap { $0.first?.uppercased() }.joined() }

  /// For previews and tests; apps get contacts from ``ContactService``.
  public init(id: String, givenName: String, familyName: String, phoneNumber: String) {
    self.id = id
    self.givenName = givenName
    self.familyName = familyName
    self.phoneNumber = phoneNumber
  }
}

/// A person as the address book has them.
public struct AddressBookPerson: Sendable, Equatable {
  public let id: String
  public let givenName: String
  public let familyName: String
  /// As typed.
  public let phoneNumbers: [String]

  /// For an ``AddressBook`` of the app's own.
  public init(id: String, givenName: String, familyName: String, phoneNumbers: [String]) {
    self.id = id
    self.givenName = givenName
    self.familyName = familyName
    self.phoneNumbers = phoneNumbers
  }
}

/// Where contacts come from: the phone's address book, or a list in a test or a preview.
public protocol AddressBook: Sendable {
  /// Asks for permission if that was not done yet.
  ///
  /// - Throws: ``AddressBookDenied`` when the user has not given it.
  func people() async throws -> [AddressBookPerson]
}

/// The user does not want the app to read the address book: show how to change that in the settings.
public struct AddressBookDenied: Error, Sendable, Equatable {
  /// For an ``AddressBook`` of the app's own.
  public init() {}
}
