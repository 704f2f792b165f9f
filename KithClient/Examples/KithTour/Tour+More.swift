import Foundation
import KithClient

/// Who is there, and what they do together.
extension Tour {
  private struct Book: AddressBook {
    func people() async throws -> [AddressBookPerson] {
      [AddressBookPerson(id: "1", givenName: "Carol", familyName: "Example", phoneNumbers: ["(415) 555-2671"])]
    }
  }

  func contacts() async throws {
    print("\nContacts")
    let contacts = ContactService(client: alice, addressBook: Book(), callingCode: "1")
    let sections = try await contacts.load()
    print("  with the app: \(sections.alreadyOn.map(\.fullName)), to be invited: \(sections.toInvite.map(\.fullName))")
  }

  func onboarding() async throws {
    print("\nThe first steps of a new user")
    guard let phone else { return print("  need a number and its code: KithTour URL +15550001111 123456") }
    let carol = KithClient(baseURL: server, tokens: MemoryTokenStore())
    let group = try await alice.groups.create(name: "Friends of Carol")
    let code = try await alice.invites.createLink(to: group).code
    guard let link = URL(string: "daily://invite?code=\(code)") else { return }
    let links = DeepLinks(client: carol, file: file("carol-links.json"), webHosts: [])
    print("  Carol opens \(link): \(try await links.open(link))")
    let onboarding = Onboarding(client: carol, links: links, file: file("carol.json"))
    try await onboarding.begin()
    try await onboarding.enter(phoneNumber: phone.number, callingCode: "1")
    try await onboarding.enter(code: phone.code)
    print("  after the code: \(await onboarding.state.step), with the invite \(try await onboarding.redeemInvite())")
    if await onboarding.state.step == .nameEntry { try await onboarding.enter(firstName: "Carol") }
    try await onboarding.answerPermissions()
    print("  then: \(await onboarding.state.step)")
    try await carol.auth.deleteAccount()
  }

  func adventures() async throws {
    print("\nAdventures")
    let cafe = Coordinate(latitude: 37.7749, longitude: -122.4194)
    let plan = try await alice.adventures.createPlan(
      title: "Weekend", stops: [.init(name: "Coffee Shop", address: "123 Main St", at: cafe)])
    print("  Alice plans \(plan.title): \(try await alice.adventures.changePlan(plan.id, status: .active).status)")
    let place = try await alice.adventures.savePlace(name: "Coffee Shop", address: "123 Main St", at: cafe)
    print("  and saves \(place.name); she has \(try await alice.adventures.places().count) places")
  }

  func hunt() async throws {
    print("\nA hunt")
    let group = try await alice.adventures.createSocialGroup(name: "Weekend Warriors")
    _ = try await bob.adventures.joinSocialGroup(code: group.inviteCode)
    let hunt = try await alice.adventures.createHunt(
      title: "City", in: group.id, checkpoints: [.init(title: "Find the Red Door", points: 20)])
    _ = try await alice.adventures.addCheckpoint(.init(title: "Find the Cat"), to: hunt.id)
    try await bob.adventures.joinHunt(hunt.id)
    _ = try await alice.adventures.changeHunt(hunt.id, to: .active)
    for checkpoint in try await bob.adventures.checkpoints(of: hunt.id) {
      let found = try await bob.adventures.submit(checkpoint.id)
      let isVerified = try await alice.adventures.verify(found.id).verified ?? false
      print("  Bob has found: \(checkpoint.title), \(isVerified ? "which counts" : "which does not count")")
    }
    for score in try await alice.adventures.leaderboard(of: hunt.id) {
      print("  \(score.name ?? "somebody"): \(score.score)")
    }
  }

  func files() async throws {
    print("\nA photo with a name")
    let avatar = try await alice.files.upload(.data(Self.pixel), as: "me.jpg", in: .avatars, replacing: true)
    print("  Alice: \(try alice.files.publicURL(of: avatar).path)")
    print("  everybody can see its \(try await bob.files.data(of: avatar).count) bytes")
    try await alice.files.delete([avatar.path], in: .avatars)
  }

  func notifications() async throws {
    print("\nNotifications")
    let hours = NotificationPreference.QuietHours(enabled: true, start: "22:00", end: "07:00")
    let preference = try await alice.notifications.changePreference(kinds: ["new_photos": false], quietHours: hours)
    let kinds = preference.kinds.filter(\.value).keys.sorted().joined(separator: ", ")
    print("  Alice gets: \(kinds), but not from \(preference.quietHours.start) to \(preference.quietHours.end)")
  }

  func waysIn() async throws {
    print("\nWithout a password")
    let dave = KithClient(baseURL: server, tokens: MemoryTokenStore())
    do { try await dave.auth.signInAnonymously() } catch { return print("  \(error.localizedDescription)") }
    print("  Dave is somebody already, with \(try await dave.auth.identities().count) ways in")
    try await dave.auth.deleteAccount()
  }
}
