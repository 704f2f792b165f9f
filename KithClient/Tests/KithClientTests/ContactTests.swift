import Foundation
import Testing

@testable import KithClient

/// Who of the address book has the app.
@Suite struct ContactTests {
  private struct Book: AddressBook {
    let all: [AddressBookPerson]
    func people() async throws -> [AddressBookPerson] { all }
  }

  private struct DeniedBook: AddressBook {
    func people() async throws -> [AddressBookPerson] { throw AddressBookDenied() }
  }

  private static func person(_ index: Int, _ name: String, _ numbers: String...) -> AddressBookPerson {
    AddressBookPerson(id: "p\(index)", givenName: name, familyName: "Example", phoneNumbers: numbers)
  }

  /// Answers that those whose number ends in 1 have the app.
  private static let answer: ScriptedTransport.Answer = { request, _ in
    struct Body: Decodable { let phone_numbers: [String] }
    guard case .data(let data) = request.body else { return .refusal(422, "validation_error") }
    let numbers = try JSONDecoder().decode(Body.self, from: data).phone_numbers
    guard numbers.count <= 2000 else { return .refusal(422, "validation_error") }
    let existing = numbers.filter { $0.hasSuffix("1") }
      .map { #"{"phone_number":"\#($0)","user_id":"u\#($0)","first_name":"A"}"# }
    return .json(#"{"existing":[\#(existing.joined(separator: ","))],"needs_invite":[]}"#)
  }

  @Test func contactsAreSplitSearchedAndChosen() async throws {
    let people = [
      Self.person(1, "Zoë", "(415) 555-2671", "+1 415 555 2671"), Self.person(2, "Bob", "+49 151 12345678", "none"),
      Self.person(3, "Eve", "call me"),
    ]
    let (client, _) = try await KithClient.scripted(Self.answer)
    let service = ContactService(client: client, addressBook: Book(all: people), callingCode: "1")
    let sections = try await service.load()
    #expect(sections.alreadyOn.map(\.phoneNumber) == ["+14155552671"])
    #expect(sections.toInvite.map(\.fullName) == ["Bob Example"])
    #expect(sections.alreadyOn.map(\.initials) == ["ZE"])
    #expect(await service.sections(matching: "zoe").alreadyOn.count == 1)
    #expect(await service.sections(matching: "151 12").toInvite.count == 1)
    #expect(await service.sections(matching: "nobody") == ContactService.Sections())
  }

  @Test func moreThanTwoThousandNumbersAreAskedInBatches() async throws {
    let people = (0..<4500).map { Self.person($0, "P\($0)", "+1415555\(String(10000 + $0).suffix(4))") }
    let (client, transport) = try await KithClient.scripted(Self.answer)
    let service = ContactService(client: client, addressBook: Book(all: people), callingCode: "1")
    let sections = try await service.load()
    #expect(sections.alreadyOn.count == 450 && sections.toInvite.count == 4050)
    #expect(transport.requests.count == 3)
  }

  @Test func atMostElevenAreChosen() async throws {
    let people = (0..<15).map { Self.person($0, "P\($0)", "+1415555\(2000 + $0)") }
    let (client, _) = try await KithClient.scripted(Self.answer)
    let service = ContactService(client: client, addressBook: Book(all: people), callingCode: "1")
    let all = try await service.load()
    let ids = (all.alreadyOn + all.toInvite).map(\.id)
    var chosen: [Bool] = []
    for id in ids { chosen.append(await service.toggle(id)) }
    #expect(chosen.filter { $0 }.count == 11 && chosen.suffix(4).allSatisfy { !$0 })
    #expect(await service.toggle(ids[0]) == false)
    #expect(await service.toggle(ids[14]) == true)
  }

  @Test func withoutPermissionThereAreNoContacts() async throws {
    let (client, transport) = try await KithClient.scripted(Self.answer)
    let service = ContactService(client: client, addressBook: DeniedBook(), callingCode: "1")
    await #expect(throws: AddressBookDenied()) { try await service.load() }
    #expect(transport.requests.isEmpty)
  }

  @Test(arguments: [
    ("0151 12345678", "49", "+4915112345678"), ("(415) 555-2671", "1", "+14155552671"),
    ("06 6982 0000", "39", "+390669820000"), ("+44 20 7946 0958", "49", "+442079460958"),
  ])
  func aNumberOfTheOwnCountryNeedsNoCountryCode(typed: String, code: String, number: String) {
    #expect(PhoneNumber(typed, inCountry: code)?.text == number)
  }

  @Test(arguments: ["call me", "", "12", "++49151"]) func whatIsNoNumberIsNone(typed: String) {
    #expect(PhoneNumber(typed, inCountry: "49") == nil)
  }
}
