import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Contacts, invitations and groups of people who sign in by phone, against the real server.
@Suite struct FriendAreaTests {
  private static let numbers = [
    "alice": "+15550001111", "bob": "+15550002222", "carol": "+15550003333", "dave": "+15550004444",
  ]
  private static let codes = ["SMS_TEST_CODES": numbers.values.sorted().map { "\($0):424242" }.joined(separator: ",")]

  private struct Book: AddressBook {
    let all: [AddressBookPerson]
    func people() async throws -> [AddressBookPerson] { all }
  }

  private func signedIn(_ name: String, _ stack: TestStack) async throws -> KithClient {
    let client = try stack.kithClient()
    let number = try #require(Self.numbers[name])
    _ = try await client.auth.requestCode(phoneNumber: number)
    _ = try await client.auth.signIn(phoneNumber: number, code: "424242", firstName: name.capitalized)
    return client
  }

  private func file() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)/links.json")
  }

  @Test(arguments: engines) func theChosenContactsBecomeMembersOrAreInvited(engine: Engine) async throws {
    try await withStack(engine, Self.codes) { stack in
      let alice = try await signedIn("alice", stack)
      let bob = try await signedIn("bob", stack)
      let people = [
        AddressBookPerson(id: "1", givenName: "Bob", familyName: "", phoneNumbers: ["(555) 000-2222"]),
        AddressBookPerson(id: "2", givenName: "Carol", familyName: "", phoneNumbers: ["+1 555 000 3333"]),
      ]
      let contacts = ContactService(client: alice, addressBook: Book(all: people), callingCode: "1")
      let sections = try await contacts.load()
      #expect(sections.alreadyOn.map(\.user?.firstName) == ["Bob"])
      #expect(sections.toInvite.map(\.givenName) == ["Carol"])
      let group = try await alice.groups.create(name: "The Mountain Cabin", timeZone: .gmt)
      for contact in sections.alreadyOn + sections.toInvite { #expect(await contacts.toggle(contact.id)) }
      let sent = try await contacts.inviteChosen(to: group)
      #expect(sent.addedMembers == 1 && sent.sentInvites.map(\.phoneNumber) == ["+15550003333"])
      #expect(await contacts.chosen.isEmpty)
      #expect(try await bob.groups.group(group).memberCount == 2)
      let pending = try await alice.invites.pending(in: group)
      #expect(pending.map(\.phoneNumber) == ["+15550003333"])

      // Carol has opened the link of the text before she had an account.
      let code = try #require(sent.sentInvites.first?.inviteCode)
      let client = try stack.kithClient()
      let links = DeepLinks(client: client, file: file(), webHosts: [])
      #expect(try await links.open(try #require(URL(string: "daily://invite?code=\(code)"))) == .waiting)
      let onboarding = Onboarding(client: client, links: links, file: file())
      try await onboarding.begin()
      try await onboarding.enter(phoneNumber: "555 000 3333", callingCode: "1")
      try await onboarding.enter(code: "424242")
      #expect(
        try await onboarding.redeemInvite()
          == .redeemed(.group(JoinedGroup(groupID: group, groupName: "The Mountain Cabin"))))
      try await onboarding.enter(firstName: "Carol")
      try await onboarding.answerPermissions()
      #expect(await onboarding.isComplete)
      #expect(try await alice.groups.group(group).members.map(\.firstName).sorted() == ["Alice", "Bob", "Carol"])
      #expect(try await alice.invites.pending(in: group).isEmpty)
    }
  }

  @Test(arguments: engines) func groupsHaveOwnersAndUsersBlockEachOther(engine: Engine) async throws {
    try await withStack(engine, Self.codes) { stack in
      let alice = try await signedIn("alice", stack)
      let bob = try await signedIn("bob", stack)
      let group = try await alice.groups.create(name: "Us", timeZone: .gmt)
      let link = try await alice.invites.createLink(to: group)
      _ = try await bob.invites.redeem(link.code)
      let (aliceID, bobID) = (try await alice.auth.account().id, try await bob.auth.account().id)
      try await alice.groups.transfer(group, to: bobID)
      #expect(try await bob.groups.group(group).role == "owner")
      try await alice.invites.deleteLink(link.id, to: group)
      #expect(try await bob.invites.links(to: group).isEmpty)
      try await bob.groups.remove(aliceID, from: group)
      #expect(try await alice.groups.all().isEmpty)
      try await bob.groups.close(group)
      #expect(try await bob.groups.all().isEmpty)

      try await alice.groups.block(bobID)
      let shared = try await bob.groups.create(name: "Ours", timeZone: .gmt)
      let other = try await bob.invites.createLink(to: shared)
      await #expect(throws: KithFailure.self) { try await alice.invites.redeem(other.code) }
      try await alice.groups.unblock(bobID)
      #expect(try await alice.invites.redeem(other.code).groupID == shared)
    }
  }

  @Test func theLinkOfATextWhoseAnswerWasLostLetsItsUserIn() async throws {
    try await withStack(engines[0], Self.codes) { stack in
      let alice = try await signedIn("alice", stack)
      let group = try await alice.groups.create(name: "Us", timeZone: .gmt)
      let sent = try await alice.invites.send(to: group, phoneNumbers: ["+15550003333"])
      let code = try #require(sent.sentInvites.first?.inviteCode)
      let transport = LosingTransport(losesFirstOf: "/api/invites/redeem")
      let carol = try stack.kithClient(attemptsMax: 1, transport: transport)
      _ = try await carol.auth.requestCode(phoneNumber: "+15550003333")
      _ = try await carol.auth.signIn(phoneNumber: "+15550003333", code: "424242", firstName: "Carol")
      let (file, link) = (file(), try #require(URL(string: "daily://invite?code=\(code)")))
      #expect(try await DeepLinks(client: carol, file: file, webHosts: []).open(link) == .waiting)
      // The app was killed. The code is for one person, and used.
      let links = DeepLinks(client: carol, file: file, webHosts: [])
      #expect(try await links.redeemPending() == .redeemed(.group(JoinedGroup(groupID: group, groupName: "Us"))))
      #expect(try await links.open(link) == .ignored)
      #expect(transport.lost == 1)
      // The premise: with another key it is not valid any more.
      await #expect(throws: KithFailure.self) { try await carol.invites.redeem(code) }
    }
  }

  @Test(arguments: engines) func linksAreListedRevokedAndRejected(engine: Engine) async throws {
    try await withStack(engine, Self.codes) { stack in
      let alice = try await signedIn("alice", stack)
      let bob = try await stack.clientWithShortTokens("bob")
      let collection = try await alice.collections.create(name: "Modern Marbles")
      let first = try await alice.invites.createShareLink(to: collection.id)
      let second = try await alice.invites.createShareLink(to: collection.id)
      #expect(try await alice.invites.shareLinks(to: collection.id).count == 2)
      #expect(try await bob.invites.reject(first.id).status == "REJECTED")
      try await alice.invites.revokeShareLink(second.id, to: collection.id)
      await #expect(throws: KithFailure.self) { try await bob.invites.accept(second.id) }

      let list = try await alice.lists.create(name: "Groceries")
      let link = try await alice.invites.createLink(to: list.id, role: .viewer, maxUses: 2)
      #expect(try await alice.invites.links(to: list.id).map(\.code) == [link.code])
      try await alice.invites.deleteLink(link.id, to: list.id)
      #expect(try await alice.invites.links(to: list.id).filter(\.usable).isEmpty)
      // Who has left is not added again, but invited, and may decline.
      let membership = try #require(try await alice.lists.add("bob@example.com", to: list.id, as: .viewer))
      try await bob.lists.remove(membership.id, from: list.id)
      #expect(try await alice.lists.add("bob@example.com", to: list.id, as: .viewer) == nil)
      let invite = try #require(try await bob.invites.mine().first)
      #expect(invite.list.name == "Groceries" && invite.role == "viewer")
      try await bob.invites.declineList(code: invite.code)
      #expect(try await bob.invites.mine().isEmpty)
      #expect(try await bob.lists.all().isEmpty)
    }
  }
}
