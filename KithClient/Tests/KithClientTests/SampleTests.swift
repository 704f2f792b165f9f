import Foundation
import Testing

@testable import KithClient

/// The answers that the API's documents show are decoded, with no member more than they have.
@Suite struct SampleTests {
  private func read<Body: Decodable>(_ type: Body.Type, _ text: String) throws -> Body {
    try WireCoding.decode(type, from: Data(text.utf8))
  }

  private struct Wrapped<Value: Decodable & Sendable>: Decodable, Sendable { let data: Value }

  @Test func shareLinks() throws {
    let made = try read(
      Wrapped<ShareLink>.self,
      """
      {"data": {"id": "inv_123", "token": "inv_abcd1234", "role": "VIEW_ONLY", "status": "PENDING",
       "expiresAt": "2024-11-15T10:00:00.000Z", "deepLink": "sampleart://invite/inv_abcd1234",
       "appStoreFallbackUrl": "https://apps.apple.com/app/id6749925767",
       "collection": {"id": "col_123", "name": "Modern Marbles"},
       "inviter": {"id": "user_owner", "email": "owner@example.com", "name": "Owner"}}}
      """
    ).data
    let link = try #require(made.deepLink)
    #expect(DeepLink(link) == .share(token: "inv_abcd1234"))
    #expect(made.appStoreFallbackURL?.host == "apps.apple.com" && made.expiresAt.rfc3339.hasPrefix("2024-11-15T10"))

    let shown = try read(
      Wrapped<ShareLink>.self,
      """
      {"data": {"id": "inv_123", "collection": {"id": "col_123", "name": "Modern Marbles"},
       "inviter": {"id": "user_owner", "name": "Owner", "email": "owner@example.com"}, "invitee": null,
       "role": "VIEW_ONLY", "status": "PENDING", "expiresAt": "2024-11-15T10:00:00.000Z"}}
      """
    ).data
    #expect(shown.invitee == nil && shown.inviter.name == "Owner")

    let accepted = #"{"data": {"collectionId": "col_123", "role": "VIEW_ONLY", "status": "ACCEPTED"}}"#
    #expect(try read(Wrapped<ShareLinkAnswer>.self, accepted).data.role == "VIEW_ONLY")
    let rejected = #"{"data": {"collectionId": "col_123", "status": "REJECTED"}}"#
    #expect(try read(Wrapped<ShareLinkAnswer>.self, rejected).data.collectionID == "col_123")
  }

  @Test func contactsAndCodes() throws {
    let check =
      #"{"existing": [{"phone_number": "+14155552671", "user_id": "u", "first_name": "Kim"}], "needs_invite": ["+1"]}"#
    #expect(try read(ContactCheck.self, check).existing.first?.firstName == "Kim")
    let sent = #"{"sent_invites": [{"phone_number": "+1", "invite_code": "K7QM2X"}], "added_members": 1}"#
    #expect(try read(SentInvites.self, sent).sentInvites.first?.inviteCode == "K7QM2X")
    #expect(try read(JoinedGroup.self, #"{"group_id": "g", "group_name": "Us"}"#).groupName == "Us")
  }

  @Test func groupsAndPhotos() throws {
    let group = """
      {"id": "g", "name": "Us", "created_at": "2026-11-21T08:15:30Z", "member_count": 1,
       "members": [{"id": "u", "first_name": ""}], "has_sent_today": false, "last_photo": null}
      """
    #expect(try read(SharedGroup.self, group).lastPhoto == nil)
    let photo = """
      {"id": "p", "group_id": "g", "sender_id": "u", "sender_name": "Kim", "url": "https://a.example/p?s=1",
       "created_at": "2026-11-21T08:15:30Z", "expires_at": "2026-11-23T08:15:30Z"}
      """
    #expect(try read(Photo.self, photo).url.query == "s=1")
  }

  @Test func listsAndTasks() throws {
    struct Lists: Decodable { let lists: [SharedList] }
    let lists = """
      {"lists": [{"id": 1, "name": "My Tasks", "description": "Personal task list",
       "owner": {"id": 4, "email": "test3@test3.com"}, "role": "owner", "members_count": 0,
       "created_at": "2025-10-14T21:12:03.693Z", "updated_at": "2025-10-14T21:12:03.693Z"}]}
      """
    #expect(try read(Lists.self, lists).lists.first?.owner?.email == "test3@test3.com")
    let task = """
      {"id": 7, "list_id": 1, "title": "Milk", "note": null, "due_at": "2025-10-14T21:12:03.693Z",
       "status": "pending", "strict_mode": true, "created_at": "2025-10-14T21:12:03.693Z",
       "updated_at": "2025-10-14T21:12:03.693Z", "can_reassign": true}
      """
    #expect(try read(ListTask.self, task).canReassign == true)
  }

  @Test func signingIn() throws {
    let session = """
      {"access_token": "eyJ", "token_type": "bearer", "expires_in": 3600, "refresh_token": "refresh_token_here",
       "user": {"id": "uuid", "email": "user@example.com", "display_name": "User Name"}}
      """
    #expect(try read(TokenPair.self, session).refreshToken == "refresh_token_here")
    let payload = Data(#"{"sub":"01a1fd2c","exp":1}"#.utf8).base64EncodedString()
      .replacingOccurrences(of: "=", with: "")
    #expect(Bearer(token: "e30.\(payload).c2ln", expiresAt: nil).userID == "01a1fd2c")
    #expect(Bearer(token: "opaque", expiresAt: nil).userID == nil)
  }

  @Test func creditsAndPurchases() throws {
    let balance = #"{"balance": 45, "lifetime_earned": 50, "lifetime_spent": 5}"#
    #expect(try read(Credits.Balance.self, balance).available == nil)
    let granted = #"{"transaction_id": "2", "product_id": "p", "credits_granted": 100, "balance": 150}"#
    #expect(try read(Billing.Granted.self, granted).creditsGranted == 100)
    let status = #"{"subscription_tier": "free", "status": "none", "source": null, "current_period_end": null}"#
    #expect(try read(Billing.Status.self, status).subscriptionTier == "free")
  }

  @Test func adventures() throws {
    let plan = """
      {"id": "a", "user_id": "u", "title": "Weekend Adventure", "description": "A fun weekend trip", "stops":
       [{"name": "Coffee Shop", "address": "123 Main St", "latitude": 37.7749, "longitude": -122.4194}],
       "status": "draft", "created_at": "2024-01-01T10:00:00Z", "updated_at": "2024-01-01T10:00:00Z"}
      """
    #expect(try read(AdventurePlan.self, plan).stops?.first?.latitude == 37.7749)
    let hunt = """
      {"id": "h", "title": "City Scavenger Hunt", "description": null, "created_by": "u", "group_id": null,
       "status": "active", "start_time": "2024-01-01T10:00:00Z", "end_time": null, "participant_count": 1,
       "checkpoint_count": 1, "progress": 0.5, "created_at": "2024-01-01T10:00:00Z"}
      """
    #expect(try read(ScavengerHunt.self, hunt).progress == 0.5)
    let score = """
      {"hunt_id": "h", "id": "u", "name": "Kim", "score": 20, "completed_checkpoints": 1, "completedCheckpoints": 1,
       "total_checkpoints": 3, "totalCheckpoints": 3, "last_submitted_at": null}
      """
    #expect(try read(ScavengerHunt.Score.self, score).totalCheckpoints == 3)
    let share = """
      {"id": "e", "user_id": "u", "route_data": {"origin": {"latitude": 37.7749}, "distance": 5.2},
       "recipients": ["uuid1", "uuid2"], "is_active": true, "expires_at": "2024-01-01T16:00:00Z"}
      """
    #expect(try read(ArrivalShare.self, share).routeData["distance"] == .double(5.2))
    let group = """
      {"id": "g", "name": "Weekend Warriors", "description": null, "created_by": "u", "invite_code": "ABC234",
       "qr_code": "https://a.example/i/ABC234", "member_count": 1, "created_at": "2024-01-01T10:00:00Z",
       "updated_at": "2024-01-01T10:00:00Z"}
      """
    #expect(try read(SocialGroup.self, group).inviteCode == "ABC234")
  }

  @Test func timepoints() throws {
    let page = """
      {"items": [{"id": "t", "query": "Oppenheimer Trinity test 1945", "slug": "oppenheimer-trinity-test-1945-a1b2c3",
       "status": "completed", "year": 1945, "location": "Jornada del Muerto, New Mexico", "has_image": true,
       "created_at": "2026-02-09T12:00:00Z"}], "total": 42, "page": 1, "page_size": 20}
      """
    #expect(try read(TimepointPage<TimepointSummary>.self, page).items.first?.year == 1945)
    let step = #"{"event": "step_complete", "step": "judge", "progress": 10}"#
    #expect(try read(TimepointProgress.self, step).step == "judge")
    let done = #"{"event": "done", "progress": 100, "data": {"timepoint_id": "t", "status": "completed"}}"#
    #expect(try read(TimepointProgress.self, done).timepointID == "t")
  }

  @Test func errors() {
    let problem = """
      {"type": "about:blank", "title": "Payment Required", "status": 402, "code": "insufficient_credits",
       "detail": "Insufficient credits. This operation costs 5 credits.",
       "message": "Insufficient credits. This operation costs 5 credits.", "hint": null, "request_id": "r",
       "error": {"code": "insufficient_credits", "message": "x", "details": null},
       "errors": [{"field": "title", "message": "must not be empty"}]}
      """
    let refusal = Refusal(.json(problem, status: 402))
    #expect(refusal.code == .known(.insufficientCredits) && refusal.fields.map(\.field) == ["title"])
    #expect(refusal.message == "Insufficient credits. This operation costs 5 credits.")
    #expect(Refusal(.json("<html>", status: 502)).code == .other("http_502"))
  }
}
