import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// The models of an app that identifies users by phone number, as that app decodes them: dates are ISO 8601 without
/// fractions of a second, and all properties that are not optional are required.
private enum Dayly {
  struct Group: Decodable {
    struct Member: Decodable {
      let id: UUID
      let first_name: String
    }

    struct LastPhoto: Decodable {
      let timestamp: Date
      let sender_id: UUID
      let sender_name: String
    }

    let id: UUID
    let name: String
    let created_at: Date
    let member_count: Int
    let members: [Member]
    let has_sent_today: Bool
    let last_photo: LastPhoto?
  }

  struct CreatedGroup: Decodable {
    let id: UUID
    let name: String
  }

  struct Success: Decodable {
    let success: Bool
  }

  struct DailyStatus: Decodable {
    let has_sent_today: Bool
  }

  struct Photo: Decodable {
    let id: UUID
    let group_id: UUID
    let sender_id: UUID
    let sender_name: String
    let url: URL
    let created_at: Date
    let expires_at: Date
  }

  struct Photos: Decodable {
    let photos: [Photo]
  }

  struct SentPhoto: Decodable {
    let photo_id: UUID
    let expires_at: Date
  }

  struct UploadURL: Decodable {
    let upload_url: URL
    let photo_id: UUID
    let storage_path: String
  }

  struct CheckedUsers: Decodable {
    struct User: Decodable {
      let phone_number: String
      let user_id: UUID
      let first_name: String
    }

    let existing_users: [User]
    let needs_invite: [String]
  }

  struct SentInvites: Decodable {
    struct Invite: Decodable {
      let phone_number: String
      let invite_code: String
    }

    let sent_invites: [Invite]
    let added_members: Int
  }

  struct Redeemed: Decodable {
    let group_id: UUID
    let group_name: String
  }

  struct PendingInvites: Decodable {
    struct Invite: Decodable {
      struct Profile: Decodable {
        let first_name: String
      }

      let id: UUID
      let group_id: UUID
      let phone_number: String
      let code: String?
      let invited_by: UUID
      let created_at: Date
      let expires_at: Date
      let used_at: Date?
      let profiles: Profile?
    }

    let invites: [Invite]
  }

  struct Devices: Decodable {
    struct Device: Decodable {
      let id: UUID
      let device_token: String
      let platform: String
      let created_at: Date
    }

    let devices: [Device]
  }
}

extension Browser.Reply {
  /// Decodes a successful response as the app does.
  fileprivate func decoded<Model: Decodable>(as model: Model.Type) throws -> Model {
    guard (200..<300).contains(status) else { throw Unexpected(reply: text) }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(Model.self, from: body)
  }
}

/// The responses about groups, photos, invites, and devices, decoded with that app's models.
@Suite struct DaylyModelTests {
  @Test(arguments: engines) func itReadsEveryAnswer(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("Alice"), try await stack.signIn("Bob"), try await stack.signIn("Carol")
      )
      try await stack.addPhoneNumber("+4740000001", to: alice)
      try await stack.addPhoneNumber("+4740000002", to: bob)
      let made = try await alice.browser.post(
        "/api/groups/", ["name": "The Cabin", "member_phone_numbers": [String]()]
      ).decoded(as: Dayly.CreatedGroup.self)
      let id = made.id.uuidString.lowercased()
      let checked = try await alice.browser.post(
        "/api/invites/check-users", ["phone_numbers": ["+4740000002", "+4740000009"]]
      ).decoded(as: Dayly.CheckedUsers.self)
      #expect(checked.existing_users.map(\.user_id) == [bob.id.uuid] && checked.needs_invite == ["+4740000009"])
      let sent = try await alice.browser.post(
        "/api/invites/send",
        [
          "group_id": id, "phone_numbers": ["+4740000009"],
          "existing_users": [["user_id": bob.id.description, "phone_number": "+4740000002", "first_name": "Bob"]],
        ]
      ).decoded(as: Dayly.SentInvites.self)
      #expect(sent.added_members == 1 && sent.sent_invites.count == 1)
      let pending = try await bob.browser.get("/api/invites/pending/\(id)").decoded(as: Dayly.PendingInvites.self)
      #expect(pending.invites.first?.profiles?.first_name == "Alice")
      let code = sent.sent_invites[0].invite_code
      let redeemed = try await carol.browser.post("/api/invites/redeem/\(code)").decoded(as: Dayly.Redeemed.self)
      #expect(redeemed.group_id == made.id)

      let group = try #require(GroupID(id))
      let empty = try #require(try await bob.browser.get("/api/groups/").decoded(as: [Dayly.Group].self).first)
      #expect(empty.last_photo == nil && empty.members.count == 3)
      let unmarked = try await bob.browser.post("/api/groups/\(id)/mark-sent").decoded(as: Dayly.Success.self)
      #expect(unmarked.success == false)
      let photo = try await bob.send(SamplePhotos.jpeg, to: group).decoded(as: Dayly.SentPhoto.self)
      #expect(try await bob.browser.post("/api/groups/\(id)/mark-sent").decoded(as: Dayly.Success.self).success)
      let status = try await bob.browser.get("/api/groups/\(id)/daily-status").decoded(as: Dayly.DailyStatus.self)
      #expect(status.has_sent_today)
      let address = try await alice.browser.post("/api/photos/upload-url", ["group_id": id])
        .decoded(as: Dayly.UploadURL.self)
      #expect(address.photo_id != photo.photo_id)
      let today = try await alice.browser.get("/api/photos/\(id)/today").decoded(as: Dayly.Photos.self)
      #expect(today.photos.map(\.id) == [photo.photo_id] && today.photos.first?.expires_at == photo.expires_at)
      let seen = try #require(try await alice.browser.get("/api/groups/").decoded(as: [Dayly.Group].self).first)
      #expect(seen.last_photo?.timestamp == today.photos.first?.created_at)
      #expect(seen.last_photo?.sender_id == bob.id.uuid && seen.last_photo?.sender_name == "Bob")

      #expect(try await alice.browser.send(.PUT, "/api/groups/\(id)?name=Ours").decoded(as: Dayly.Success.self).success)
      let token = String(repeating: "0a", count: 32)
      let registered = try await alice.browser.post(
        "/api/devices/register", ["device_token": token, "platform": "ios"])
      #expect(try registered.decoded(as: Dayly.Success.self).success)
      #expect(try await alice.browser.get("/api/devices/").decoded(as: Dayly.Devices.self).devices.count == 1)
      let gone = try await alice.browser.delete("/api/devices/unregister?device_token=\(token)")
      #expect(try gone.decoded(as: Dayly.Success.self).success)
      #expect(try await alice.browser.delete("/api/groups/\(id)").decoded(as: Dayly.Success.self).success)
    }
  }
}
