import Foundation

/// Scavenger hunts.
extension Adventures {
  /// Those that the user made, takes part in, or sees in a group; the newest first. Kept for 5 minutes.
  public func hunts() async throws -> [ScavengerHunt] {
    try await rows("scavenger_hunts", ["order": "created_at.desc"], .hunts)
  }

  /// Makes a draft with its checkpoints.
  ///
  /// - Throws: ``KithFailure``, such as `VALIDATION_ERROR` with the fields at fault.
  public func createHunt(
    title: String, description: String? = nil, in group: SocialGroup.ID? = nil,
    checkpoints: [ScavengerHunt.NewCheckpoint]
  ) async throws -> ScavengerHunt {
    struct Body: Encodable {
      let title: String
      let description: String?
      let groupID: String?
      let checkpoints: [ScavengerHunt.NewCheckpoint]

      private enum CodingKeys: String, CodingKey {
        case title, description, checkpoints
        case groupID = "group_id"
      }
    }
    let body = Body(title: title, description: description, groupID: group, checkpoints: checkpoints)
    return try await row(try .post("/rest/v1/scavenger_hunts", body), .hunts)
  }

  /// Safe to repeat.
  public func joinHunt(_ id: ScavengerHunt.ID) async throws {
    _ = try await api.send(try Call.post("/rest/v1/scavenger_hunts/\(id)/join").with { $0.cache = .hunts })
  }

  /// Joins the hunt that a code is for. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `HUNT_NOT_FOUND`.
  public func joinHunt(code: String) async throws -> ScavengerHunt {
    try await row(try .post("/rest/v1/scavenger_hunts/join", ["invite_code": code]), .hunts)
  }

  /// A draft becomes active, an active one completed or cancelled.
  ///
  /// - Throws: ``KithFailure``, for who has not made it and for other changes.
  public func changeHunt(
    _ id: ScavengerHunt.ID, to status: AdventureStatus, startingAt start: Date? = nil
  ) async throws -> ScavengerHunt {
    var body = ["status": status.rawValue]
    body["start_time"] = start?.rfc3339
    return try await row(try Call.patch("/rest/v1/scavenger_hunts", body).filtered("id", id), .hunts)
  }

  /// What is nil stays as it is. Only who has made the hunt may. Safe to repeat, but for a new code.
  ///
  /// - Parameter replacingCode: whether the hunt gets a new code. The old one opens nothing any more.
  /// - Throws: ``KithFailure/invalid(_:)`` for a hunt of others.
  public func changeHunt(
    _ id: ScavengerHunt.ID, title: String? = nil, description: String? = nil, start: Date? = nil, end: Date? = nil,
    replacingCode: Bool = false
  ) async throws -> ScavengerHunt {
    var body: [String: JSONValue] = [:]
    body["title"] = title.map(JSONValue.string)
    body["description"] = description.map(JSONValue.string)
    body["start_time"] = start.map { .string($0.rfc3339) }
    body["end_time"] = end.map { .string($0.rfc3339) }
    if replacingCode { body["invite_code"] = .null }
    return try await row(try Call.patch("/rest/v1/scavenger_hunts", body).filtered("id", id), .hunts)
  }

  /// Only a draft, and only who has made it may. Safe to repeat.
  public func deleteHunt(_ id: ScavengerHunt.ID) async throws { try await delete("scavenger_hunts", id, .hunts) }

  /// Who takes part in a hunt that the user sees. Kept for 5 minutes.
  public func participants(of id: ScavengerHunt.ID) async throws -> [ScavengerHunt.Participant] {
    try await rows("hunt_participants", ["hunt_id": "eq.\(id)", "order": "joined_at"], .hunts)
  }

  /// Ends taking part. Safe to repeat.
  public func leaveHunt(_ id: ScavengerHunt.ID) async throws {
    // Says whose session it is.
    _ = try await api.sessions.bearer()
    guard let user = await api.sessions.userID else { throw KithFailure.signedOut }
    let call = Call.delete("/rest/v1/hunt_participants").filtered("hunt_id", id).filtered("user_id", user)
    _ = try await api.send(call.with { $0.cache = .hunts })
  }

  /// Adds a checkpoint to one's own draft, as the last one.
  ///
  /// - Throws: ``KithFailure``, for a hunt that is no draft of the user's.
  public func addCheckpoint(
    _ checkpoint: ScavengerHunt.NewCheckpoint, to id: ScavengerHunt.ID
  ) async throws -> ScavengerHunt.Checkpoint {
    try await row(try .post("/rest/v1/hunt_checkpoints", checkpoint.body(of: id)), .hunts)
  }

  /// Changes a checkpoint of one's own draft as a whole. Safe to repeat.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for one of a hunt that is no draft of the user's.
  public func changeCheckpoint(
    _ id: ScavengerHunt.Checkpoint.ID, to checkpoint: ScavengerHunt.NewCheckpoint
  ) async throws -> ScavengerHunt.Checkpoint {
    try await row(try Call.patch("/rest/v1/hunt_checkpoints", checkpoint.body()).filtered("id", id), .hunts)
  }

  /// Of one's own draft. Safe to repeat.
  public func deleteCheckpoint(_ id: ScavengerHunt.Checkpoint.ID) async throws {
    try await delete("hunt_checkpoints", id, .hunts)
  }

  /// What was found at a checkpoint, for who takes part and who has made the hunt. Kept for 5 minutes.
  public func submissions(at checkpoint: ScavengerHunt.Checkpoint.ID) async throws -> [ScavengerHunt.Submission] {
    let query = ["checkpoint_id": "eq.\(checkpoint)", "order": "submitted_at"]
    return try await rows("checkpoint_submissions", query, .hunts)
  }

  /// Says whether a submission counts. Only who has made the hunt may. Safe to repeat.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for one of a hunt of others.
  public func verify(
    _ submission: ScavengerHunt.Submission.ID, isVerified: Bool = true
  ) async throws -> ScavengerHunt.Submission {
    let call = try Call.patch("/rest/v1/checkpoint_submissions", ["verified": isVerified])
    return try await row(call.filtered("id", submission), .hunts)
  }

  /// In their order. Kept for 5 minutes.
  public func checkpoints(of id: ScavengerHunt.ID) async throws -> [ScavengerHunt.Checkpoint] {
    try await rows("hunt_checkpoints", ["hunt_id": "eq.\(id)", "order": "order_index"], .hunts)
  }

  /// Not sent twice for a checkpoint: a second one is refused.
  ///
  /// - Parameter photo: the URL of a photo, for a checkpoint that wants one: such as ``Files/url(of:)``.
  /// - Throws: ``KithFailure``, such as `VALIDATION_ERROR`.
  public func submit(
    _ checkpoint: ScavengerHunt.Checkpoint.ID, photo: String? = nil
  ) async throws -> ScavengerHunt.Submission {
    var body = ["checkpoint_id": checkpoint]
    body["photo_url"] = photo
    return try await row(try .post("/rest/v1/checkpoint_submissions", body), .hunts)
  }

  /// Best first. Kept for 5 minutes.
  public func leaderboard(of id: ScavengerHunt.ID) async throws -> [ScavengerHunt.Score] {
    try await rows("hunt_leaderboard", ["hunt_id": "eq.\(id)"], .hunts)
  }
}
