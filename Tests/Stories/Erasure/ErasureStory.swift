import Foundation
import Support
import Testing
import Wire

/// Two people who use every service, and know one another's names, addresses and numbers.
struct ErasureStory {
  let kith: KithProcess
  let twilio: TwilioServer
  let mail: MailServer
  var alice = PersonalTraces(
    name: "Alice Liddell", email: "alice.liddell@example.com", phone: "+4790765432",
    deviceToken: String(repeating: "ab12", count: 16), photo: SamplePhotos.jpeg)
  var bob = PersonalTraces(
    name: "Bob Cratchit", email: "bob.cratchit@example.com", phone: "+4790765433",
    deviceToken: String(repeating: "cd34", count: 16), photo: SamplePhotos.turnedJPEG)

  /// Everything until alice deletes her account. Returns her.
  mutating func run() async throws -> SignedInUser {
    let bobUser = try await signUp(bob)
    let invites = try await inviteAlice(by: bobUser)
    let aliceUser = try await signUp(alice)
    #expect(try await aliceUser.browser.post("/api/invites/redeem/\(invites.code)").status == 200)
    #expect(try await aliceUser.browser.post("/invites/\(invites.link)/accept").status == 200)
    try await shareCollection(aliceUser, bobUser)
    try await shareLists(aliceUser, bobUser)
    let group = try await group(of: aliceUser, with: bobUser)
    let avatars = (try await storedAvatar(of: aliceUser), try await storedAvatar(of: bobUser))
    let alicePhoto = try await sendPhoto(alice.photo, as: aliceUser, to: group)
    let bobPhoto = try await sendPhoto(bob.photo, as: bobUser, to: group)
    let submitted = try await submitPhoto(aliceUser, toHuntOf: bobUser)
    alice.storedPhotos = [avatars.0, alicePhoto, submitted]
    bob.storedPhotos = [avatars.1, bobPhoto]
    try await planAdventures(aliceUser, for: bobUser)
    try await makeScene(aliceUser)
    return aliceUser
  }

  // MARK: Accounts

  /// Signs in with a code by mail, adds a number with a code by text, and fills the profile.
  private func signUp(_ person: PersonalTraces) async throws -> SignedInUser {
    let app = kith.gateway.with(["User-Agent": "iPhone of \(person.name)"])
    #expect(try await app.post("/auth/v1/otp", ["email": person.email]).status == 200)
    let mailed = try await code("a mail") {
      mail.messages.filter { $0.to == [person.email] }.compactMap { $0.part("text/plain") }
    }
    let verified = try await app.post(
      "/auth/v1/verify", ["type": "email", "email": person.email, "token": mailed])
    let user = try await SignedInUser(verified, through: app)
    let path = "/api/v1/auth/identities/phone"
    #expect(try await user.browser.post(path, ["phone_number": person.phone]).status == 200)
    let texted = try await code("a text") {
      twilio.messages.filter { $0.to == person.phone && !$0.text.contains("Invite code") }.map(\.text)
    }
    let confirmed = try await user.browser.post("\(path)/confirm", ["phone_number": person.phone, "code": texted])
    #expect(confirmed.status == 200, "\(confirmed.text)")
    try await fillProfile(of: user, person)
    return user
  }

  private func fillProfile(of user: SignedInUser, _ person: PersonalTraces) async throws {
    let avatar = try await user.store("me.jpg", in: "avatars", person.photo)
    let profile = try await user.browser.send(
      .PATCH, "/api/v1/users/profile",
      json: ["name": person.name, "avatar_url": "https://kith.example/storage/v1/object/public/\(avatar)"])
    #expect(profile.status == 200, "\(profile.text)")
    let device = try await user.browser.post(
      "/api/devices/register", ["device_token": person.deviceToken, "platform": "ios"])
    #expect(device.status == 200, "\(device.text)")
    #expect(try await user.browser.get("/api/v1/credits/balance").int("balance") == 50)
  }

  /// The code in the last of the messages, once there is one.
  private func code(_ what: String, in messages: () -> [String]) async throws -> String {
    var code: String?
    try await eventually(what) {
      code = messages().last?.firstMatch(of: /\b\d{6}\b/).map { String($0.output) }
      return code != nil
    }
    return code ?? ""
  }

  // MARK: Invites, groups, lists

  /// By text to a group, and by e-mail to a collection, before she has an account.
  private func inviteAlice(by bob: SignedInUser) async throws -> (code: String, link: String) {
    let group = try await bob.browser.post("/api/groups", ["name": "The Band"])
    let sent = try await bob.browser.post(
      "/api/invites/send", ["group_id": group.string("id"), "phone_numbers": [alice.phone]])
    let invites = sent["sent_invites"] as? [[String: String]]
    let code = try #require(invites?.first?["invite_code"], "\(sent.text)")
    let link = try await invite(to: try await collection(of: bob), ["inviteeEmail": alice.email], by: bob)
    return (code, link)
  }

  private func collection(of user: SignedInUser) async throws -> String {
    let made = try await user.browser.post("/collections", ["name": "Marbles"])
    return try #require((made["data"] as? [String: Any])?["id"] as? String, "\(made.text)")
  }

  /// The id of a link to a collection.
  private func invite(
    to collection: String, _ body: [String: any Sendable], by user: SignedInUser
  ) async throws -> String {
    let made = try await user.browser.post("/collections/\(collection)/invites", body)
    return try #require((made["data"] as? [String: Any])?["id"] as? String, "\(made.text)")
  }

  private func shareCollection(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let shared = try await collection(of: alice)
    let link = try await invite(to: shared, ["role": "VIEW_ONLY"], by: alice)
    #expect(try await bob.browser.post("/invites/\(link)/accept").status == 200)
    _ = try await invite(to: shared, ["inviteeEmail": "carol@example.com"], by: alice)
  }

  /// Each adds the other by e-mail. A reply that is stored under a key names the other as well.
  private func shareLists(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    for (owner, member, email) in [(alice, bob, self.bob.email), (bob, alice, self.alice.email)] {
      let made = try await owner.browser.post("/api/v1/lists", ["list": ["name": "Groceries"]])
      let id = try #require((made["list"] as? [String: Any])?["id"] as? Int, "\(made.text)")
      let list = "/api/v1/lists/\(id)"
      let added = try await owner.browser.with(["Idempotency-Key": "add-\(member.id)"]).post(
        "\(list)/memberships", ["membership": ["user_identifier": email, "role": "editor"]])
      #expect(added.status == 201 && added.text.contains(email), "\(added.text)")
      #expect(try await member.browser.post("\(list)/tasks", ["task": ["title": "Milk"]]).status == 201)
    }
    let own = try await alice.browser.post("/api/v1/lists", ["list": ["name": "List of \(self.alice.name)"]])
    #expect(own.status == 201, "\(own.text)")
  }

  /// A group that bob is added to by his number.
  private func group(of alice: SignedInUser, with bob: SignedInUser) async throws -> GroupID {
    let made = try await alice.browser.post(
      "/api/groups", ["name": "The Cabin", "member_phone_numbers": [self.bob.phone]])
    let group = try #require(GroupID(made.string("id")), "\(made.text)")
    #expect(try await bob.browser.get("/api/groups/\(group)").int("member_count") == 2)
    return group
  }

  // MARK: Photos

  private func storedAvatar(of user: SignedInUser) async throws -> Data {
    try await stored("/storage/v1/object/avatars/\(user.id)/me.jpg", of: user)
  }

  /// Sends the photo of the day, and returns what is stored of it.
  private func sendPhoto(_ photo: Data, as user: SignedInUser, to group: GroupID) async throws -> Data {
    let sent = try await user.send(photo, to: group)
    #expect(sent.status == 200, "\(sent.text)")
    let shown = try await user.today(group).first { $0["sender_id"] as? String == user.id.description }
    let url = try #require(shown?["url"] as? String, "\(sent.text)")
    // Without the public host.
    let path = url.range(of: "/api/").map { String(url[$0.lowerBound...]) } ?? url
    return try await stored(path, of: user)
  }

  private func stored(_ path: String, of user: SignedInUser) async throws -> Data {
    let reply = try await user.browser.get(path)
    guard reply.status == 200, reply.body.count > 100 else { throw Unexpected(reply: "\(path): \(reply.status)") }
    return reply.body
  }

  // MARK: Adventures, scenes

  /// Returns what is stored of the photo.
  private func submitPhoto(_ alice: SignedInUser, toHuntOf bob: SignedInUser) async throws -> Data {
    let hunt = try await bob.insert(
      "scavenger_hunts", #"{"title": "City", "checkpoints": [{"title": "The door", "points": 20}]}"#)
    let id = try #require(hunt["id"] as? String)
    let active = Data(#"{"status": "active"}"#.utf8)
    #expect(try await bob.browser.send(.PATCH, "/rest/v1/scavenger_hunts?id=eq.\(id)", body: active).status < 300)
    let code = try #require(hunt["invite_code"] as? String)
    #expect(try await alice.browser.post("/rest/v1/scavenger_hunts/join", ["invite_code": code]).status == 200)
    let checkpoints = try await alice.browser.get("/rest/v1/hunt_checkpoints?hunt_id=eq.\(id)")
    let checkpoint = try #require(checkpoints.list.first?["id"] as? String, "\(checkpoints.text)")
    let photo = try await alice.store("door.jpg", in: "photos", self.alice.photo)
    let url = "https://kith.example/storage/v1/object/\(photo)?token=abc"
    _ = try await alice.insert(
      "checkpoint_submissions", #"{"checkpoint_id": "\#(checkpoint)", "photo_url": "\#(url)"}"#)
    // Her name is stored for the leaderboard.
    let leaders = try await bob.browser.get("/rest/v1/hunt_leaderboard?hunt_id=eq.\(id)")
    #expect(leaders.list.first?["name"] is String, "\(leaders.text)")
    return try await stored("/storage/v1/object/\(photo)", of: alice)
  }

  private func planAdventures(_ alice: SignedInUser, for bob: SignedInUser) async throws {
    let name = self.alice.name
    _ = try await alice.insert("saved_places", #"{"name": "Cove of \#(name)"}"#)
    _ = try await alice.insert(
      "adventure_plans", #"{"title": "Plan of \#(name)", "stops": [{"name": "Home of \#(name)"}]}"#)
    _ = try await alice.insert("scavenger_hunts", #"{"title": "Hunt of \#(name)"}"#)
    let end = Date().addingTimeInterval(3600).formatted(.iso8601)
    for (owner, recipient) in [(alice, bob), (bob, alice)] {
      _ = try await owner.insert(
        "eta_shares", #"{"route_data": {}, "recipients": ["\#(recipient.id)"], "expires_at": "\#(end)"}"#)
    }
  }

  /// Without a provider the scene is a rehearsal, which is stored like any other.
  private func makeScene(_ alice: SignedInUser) async throws {
    let made = try await alice.browser.post(
      "/api/v1/timepoints/generate/sync",
      ["query": "The birthday of \(self.alice.name)", "generate_image": true, "visibility": "private"])
    #expect(made.status == 200, "\(made.text)")
    let people = (made["characters"] as? [String: Any])?["characters"] as? [[String: Any]]
    let character = try #require(people?.first?["name"] as? String)
    let chat = try await alice.browser.post(
      "/api/v1/interactions/\(made.string("id"))/chat",
      ["character": character, "message": "I am \(self.alice.name).", "save_session": true])
    #expect(chat.status == 200, "\(chat.text)")
  }
}

extension SignedInUser {
  /// The row that a POST makes.
  fileprivate func insert(_ table: String, _ json: String) async throws -> [String: Any] {
    let reply = try await browser.send(.POST, "/rest/v1/\(table)", body: Data(json.utf8))
    guard reply.status == 201, let row = reply.list.first else {
      throw Unexpected(reply: "\(table): \(reply.status) \(reply.text)")
    }
    return row
  }
}
