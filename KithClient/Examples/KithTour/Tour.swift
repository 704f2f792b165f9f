import Foundation
import KithClient

/// Walks through what the client can do, against a server such as `make run` starts, and prints what happens.
struct Tour {
  let alice: KithClient
  let bob: KithClient
  /// Distinguishes the accounts of this run from those of others.
  let run = String(UUID().uuidString.prefix(8).lowercased())
  let server: URL
  /// A number of `SMS_TEST_CODES`, and its code.
  let phone: (number: String, code: String)?

  init(server: URL, phone: (number: String, code: String)?) {
    self.server = server
    self.phone = phone
    alice = KithClient(baseURL: server, tokens: MemoryTokenStore())
    bob = KithClient(baseURL: server, tokens: MemoryTokenStore())
  }

  func file(_ name: String) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("kith-tour-\(run)/\(name)")
  }

  func walk() async throws {
    try await signIn()
    try await waysIn()
    try await onboarding()
    try await contacts()
    try await lists()
    try await photo()
    try await collection()
    try await files()
    try await notifications()
    try await offline()
    try await events()
    try await adventures()
    try await hunt()
    try await timepoints()
    try await credits()
    try await signOut()
  }

  func signIn() async throws {
    print("\nSigning up")
    try await alice.auth.signUp(email: "alice-\(run)@example.com", password: "correct horse", name: "Alice")
    try await bob.auth.signUp(email: "bob-\(run)@example.com", password: "correct horse", name: "Bob")
    let account = try await alice.auth.account()
    print("  \(account.displayName ?? "") is \(account.id)")
    do { try await bob.auth.signIn(email: "alice-\(run)@example.com", password: "a guess") } catch {
      print("  a wrong password: \(error.localizedDescription)")
    }
  }

  func lists() async throws {
    print("\nA list that two share")
    let list = try await alice.lists.create(name: "Groceries")
    let link = try await alice.invites.createLink(to: list.id, role: .editor)
    print("  Alice makes \(list.name), and a link: \(link.inviteURL)")
    _ = try await bob.invites.acceptList(code: link.code)
    let milk = try await bob.tasks.create(TaskFields(title: "Milk"), in: list.id)
    _ = try await alice.tasks.complete(milk.id)
    print("  Bob wants milk, Alice has bought it: \(try await bob.tasks.task(milk.id).status ?? "")")
    _ = try await bob.tasks.addSubtask("Two litres", to: milk.id)
    _ = try await alice.tasks.create(TaskFields(title: "Oats", starred: true), in: list.id)
    var filter = TaskFilter()
    filter.starred = true
    print("  what matters most: \(try await bob.tasks.mostUrgent(filter).tasks.map(\.title))")
    do { _ = try await bob.tasks.change(milk.id, TaskFields(title: "Cream"), version: milk.version) } catch {
      print("  Bob changes what he saw before: \(error.localizedDescription)")
    }
  }

  func photo() async throws {
    print("\nThe photo of the day")
    let group = try await alice.groups.create(name: "The Mountain Cabin")
    let link = try await alice.invites.createLink(to: group)
    print("  Bob joins \(try await bob.invites.redeem(link.code).groupName)")
    let uploads = PhotoUploads(client: alice, folder: file("photos"))
    try await uploads.add(.data(Self.pixel), to: group)
    try await uploads.send()
    for upload in await uploads.uploads {
      if case .sent(let photo) = upload.status { print("  it was sent, and is there until \(photo.expiresAt)") }
    }
    do { _ = try await alice.photos.send(.data(Self.pixel), to: group) } catch {
      print("  a second one: \(error.localizedDescription)")
    }
    for photo in try await bob.photos.today(in: group) {
      let bytes = try await bob.photos.data(of: photo)
      print("  Bob sees a photo of \(photo.senderName): \(bytes.count) bytes")
    }
  }

  func collection() async throws {
    print("\nA collection that is shared by link")
    let collection = try await alice.collections.create(name: "Modern Marbles")
    let link = try await alice.invites.createShareLink(to: collection.id)
    guard let url = link.deepLink else { return }
    let links = DeepLinks(client: bob, file: file("links.json"), webHosts: [])
    print("  Bob opens \(url): \(try await links.open(url))")
    print("  and once more: \(try await links.open(url))")
  }

  func offline() async throws {
    print("\nWithout a network")
    let offline = OfflineLists(client: alice, file: file("lists.json"))
    let list = try await offline.createList(name: "For the trip")
    for title in ["Tent", "Map"] { _ = try await offline.createTask(TaskFields(title: title), in: list) }
    print("  \(await offline.pendingCount) changes wait, \(await offline.tasks(in: list).count) tasks are shown")
    print("  \(try await offline.sync().sentCount) were sent")
  }

  func events() async throws {
    print("\nLive")
    let list = try await alice.lists.create(name: "Live")
    for try await (update, _) in alice.events.updates(of: ["lists:\(list.id)"]) {
      switch update {
      case .connected: _ = try await alice.tasks.create(TaskFields(title: "Watched"), in: list.id)
      case .event(let event):
        print("  \(event.topic) number \(event.number): \(event.name)")
        return
      default: print("  \(update)")
      }
    }
  }

  func credits() async throws {
    print("\nCredits")
    let balance = try await alice.credits.balance()
    print("  Alice has \(balance.balance), an image costs \(try await alice.credits.costs()["generate_hd"] ?? 0)")
    print("  her subscription: \(try await alice.billing.status().subscriptionTier)")
    print("  for sale: \(try await alice.billing.products().packs.map(\.id))")
    for entry in try await alice.credits.history().reversed() {
      print("  \(entry.type): \(entry.amount), then \(entry.balanceAfter)")
    }
  }

  func signOut() async throws {
    print("\nSigning out")
    await bob.auth.signOut()
    do { _ = try await bob.credits.balance() } catch { print("  Bob: \(error.localizedDescription)") }
    try await alice.auth.deleteAccount()
    print("  Alice: \(await alice.auth.sessions.state)")
  }

  /// A PNG of one pixel.
  static let pixel =
    Data(
      base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAA"
        + "AADElEQVR4nGP438AAAAQBAYDFKhhdAAAAAElFTkSuQmCC") ?? Data()
}
