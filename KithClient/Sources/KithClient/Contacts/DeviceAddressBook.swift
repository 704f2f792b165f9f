#if canImport(Contacts)
  import Contacts

  /// The address book of the device.
  public struct DeviceAddressBook: AddressBook {
    /// Asks for nothing yet.
    public init() {}

    /// Asks for permission at the first call.
    ///
    /// - Throws: ``AddressBookDenied``, and the errors of the Contacts framework.
    public func people() async throws -> [AddressBookPerson] {
      let store = CNContactStore()
      // `try?`: an error means that permission was not given.
      guard (try? await store.requestAccess(for: .contacts)) == true else { throw AddressBookDenied() }
      let keys = [
        CNContactIdentifierKey, CNContactGivenNameKey, CNContactFamilyNameKey, CNContactPhoneNumbersKey,
      ]
      // The framework reads thousands of contacts synchronously: not on the thread of a caller.
      return try await Task.detached {
        var people: [AddressBookPerson] = []
        let request = CNContactFetchRequest(keysToFetch: keys as [any CNKeyDescriptor])
        try CNContactStore().enumerateContacts(with: request) { contact, _ in
          people.append(
            AddressBookPerson(
              id: contact.identifier, givenName: contact.givenName, familyName: contact.familyName,
              phoneNumbers: contact.phoneNumbers.map { $0.value.stringValue }))
        }
        return people
      }.value
    }
  }
#endif
