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

  @Test func signingInWithoutARefreshToken() async throws {
    let login = """
      {"message": "Login successful", "token": "eyJhbGciOiJIUzI1NiJ9...", "user": {"id": 4, "email": "test3@test3.com"}}
      """
    let pair = try read(TokenPair.self, login)
    #expect(pair.accessToken == "eyJhbGciOiJIUzI1NiJ9..." && pair.refreshToken == nil)
    // Such a session ends with its token, as the document says of 401.
    let (client, transport) = try await KithClient.scripted(isSignedIn: false) { request, count in
      count == 1 ? .json(login) : count == 2 ? .json(#"{"lists": []}"#) : .refusal(401, "unauthorized")
    }
    try await client.auth.signIn(email: "test3@test3.com", password: "password")
    #expect(try await client.lists.all().isEmpty)
    await #expect(throws: KithFailure.signedOut) { try await client.lists.all() }
    #expect(await client.auth.sessions.state == .signedOut(.ended))
    #expect(transport.requests.count == 3)
  }

  @Test func everyModelOfAdventures() throws {
    let place = """
      {"id": "p", "user_id": "u", "name": "Favorite Coffee Shop", "address": "123 Main St, San Francisco, CA",
       "latitude": 37.7749, "longitude": -122.4194, "category": "coffee", "place_type": "coffee",
       "created_at": "2024-01-01T10:00:00Z", "updated_at": "2024-01-01T10:00:00Z"}
      """
    #expect(try read(SavedPlace.self, place).latitude == 37.7749)
    let member = #"{"id": "m", "group_id": "g", "user_id": "u", "joined_at": "2024-01-01T10:00:00.123456+00:00"}"#
    #expect(try read(SocialGroup.Membership.self, member).userID == "u")
    let checkpoint = """
      {"id": "c", "hunt_id": "h", "title": "Find the Red Door", "description": "Look for a red door", "location":
       {"latitude": 37.7749, "longitude": -122.4194}, "photo_required": true, "points": 20, "order_index": 0,
       "created_at": "2024-01-01T10:00:00Z"}
      """
    #expect(try read(ScavengerHunt.Checkpoint.self, checkpoint).location?.longitude == -122.4194)
    let submission = """
      {"id": "s", "checkpoint_id": "c", "user_id": "u", "photo_url": "https://a.example/photo.jpg",
       "submitted_at": "2024-01-01T10:00:00Z", "verified": false}
      """
    #expect(try read(ScavengerHunt.Submission.self, submission).verified == false)
    let share = """
      {"id": "e", "user_id": "u", "route_data": {"origin": {"latitude": 37.7749, "longitude": -122.4194, "address":
       "123 Main St"}, "destination": {"latitude": 37.7849, "longitude": -122.4094, "address": "456 Oak St"},
       "distance": 5.2, "duration": 1800, "transport_mode": "driving", "estimated_arrival": "2024-01-01T15:30:00Z"},
       "recipients": ["uuid1", "uuid2"], "is_active": true, "expires_at": "2024-01-01T16:00:00Z",
       "created_at": "2024-01-01T15:00:00Z", "updated_at": "2024-01-01T15:00:00Z"}
      """
    #expect(try read(ArrivalShare.self, share).routeData["transport_mode"] == "driving")
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

  @Test func answersOfTimepoints() throws {
    let tokens = #"{"access_token": "a", "refresh_token": "r", "token_type": "bearer", "expires_in": 900}"#
    #expect(try read(TokenPair.self, tokens).expiresIn == 900)
    struct Costs: Decodable { let costs: [String: Int] }
    let costs = """
      {"costs": {"generate_balanced": 5, "generate_hd": 10, "generate_hyper": 5, "generate_gemini3": 5, "chat": 1,
       "temporal_jump": 2}}
      """
    // The names of operations are not those of properties.
    #expect(try read(Costs.self, costs).costs["temporal_jump"] == 2)
    let entry = """
      [{"amount": -5, "balance_after": 45, "type": "generation", "description": null, "created_at":
       "2026-02-09T12:00:00Z"}]
      """
    #expect(try read([Credits.Entry].self, entry).first?.balanceAfter == 45)
    let scene = """
      {"id": "t", "query": "q", "slug": "oppenheimer-trinity-abc123", "status": "completed", "year": -44,
       "has_image": true, "image_url": "https://a.example/t/image", "visibility": "public",
       "share_url": "https://timepointai.com/t/oppenheimer-trinity-abc123", "characters": {"characters": []},
       "scene": {}, "dialog": [], "tags": [], "credits_charged": 5}
      """
    let timepoint = try read(Timepoint.self, scene)
    #expect(timepoint.shareURL?.host == "timepointai.com" && timepoint.isFinished && timepoint.year == -44)
    let start = #"{"event": "start", "step": "initialization", "progress": 0}"#
    #expect(
      try read(TimepointProgress.self, start)
        == TimepointProgress(
          event: "start", step: "initialization", progress: 0, data: nil, error: nil))
    let survey = """
      {"timepoint_id": "t", "questions": ["Why?"], "responses": [{"character_name": "Ada", "question": "Why?",
       "response": "So.", "sentiment": "neutral", "key_points": ["a"], "emotional_tone": "calm"}], "summary": null,
       "mode": "parallel", "total_characters": 1, "latency_ms": 3}
      """
    #expect(try read(CharacterSurvey.self, survey).responses.first?.keyPoints == ["a"])
  }

  /// What the documents show of errors, in each of their forms.
  @Test func errorsOfEveryDocument() {
    let nested =
      #"{"error": {"code": "ERROR_CODE", "message": "Human readable error message", "details": "Additional details"}}"#
    #expect(Refusal(.json(nested, status: 400)).code == .other("ERROR_CODE"))
    #expect(Refusal(.json(nested, status: 400)).message == "Human readable error message")
    let fields =
      #"{"error": {"code": "validation_error", "message": "No.", "details": {"title": ["must not be empty"]}}}"#
    let refusal = Refusal(.json(fields, status: 422))
    #expect(refusal.code == .known(.validationError) && refusal.fields.map(\.message) == ["must not be empty"])
    let detail = #"{"detail": "Insufficient credits. This operation costs 5 credits."}"#
    #expect(Refusal(.json(detail, status: 402)).message == "Insufficient credits. This operation costs 5 credits.")
    #expect(Refusal(.json(#"{"error": "Too many connected users"}"#, status: 429)).code == .other("http_429"))
    let limited = #"{"error": {"message": "No.", "status": 429, "retry_after": 7, "timestamp": "2026-01-01"}}"#
    let head = HTTPResponse.json(limited, status: 429, headers: ["Retry-After": "7"])
    #expect(Refusal(head).retryAfterSeconds == 7 && Refusal(head).message == "No.")
    let names: [(String, KnownFailureCode)] = [
      ("AUTH_REQUIRED", .unauthorized), ("INVALID_CREDENTIALS", .invalidCredentials),
      ("USER_NOT_FOUND", .userNotFound), ("GROUP_NOT_FOUND", .groupNotFound), ("HUNT_NOT_FOUND", .huntNotFound),
      ("PERMISSION_DENIED", .forbidden), ("VALIDATION_ERROR", .validationError),
      ("RATE_LIMIT_EXCEEDED", .rateLimited), ("SERVER_ERROR", .internalError), ("NOT_CONNECTED", .serviceUnavailable),
    ]
    for (name, code) in names { #expect(FailureCode(name) == .known(code)) }
    let table = """
      {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": "permission denied", "code": "42501",
       "message": "permission denied", "hint": null, "error": {"code": "PERMISSION_DENIED", "message":
       "permission denied", "details": null}}
      """
    #expect(Refusal(.json(table, status: 403)).code == .known(.forbidden))
    let signIn = """
      {"code": "otp_expired", "error_code": "otp_expired", "msg": "No.", "message": "No.",
       "error": {"code": "PERMISSION_DENIED", "message": "No.", "details": null}}
      """
    #expect(Refusal(.json(signIn, status: 403)).code == .known(.otpExpired))
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
