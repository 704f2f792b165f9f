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

  /// In their order. Kept for 5 minutes.
  public func checkpoints(of id: ScavengerHunt.ID) async throws -> [ScavengerHunt.Checkpoint] {
    try await rows("hunt_checkpoints", ["hunt_id": "eq.\(id)", "order": "order_index"], .hunts)
  }

  /// - Parameter photo: the URL of a photo, for a checkpoint that wants one.
  public func submit(
    _ checkpoint: ScavengerHunt.Checkpoint.ID, photo: String? = nil
  ) async throws -> ScavengerHunt.Submission {
    var body = ["checkpoint_id": checkpoint]
    body["photo_url"] = photo
    return try await row(try .post("/rest/v1/checkpoint_submissions", body), .hunts)
  }

  /// Best first.
  public func leaderboard(of id: ScavengerHunt.ID) async throws -> [ScavengerHunt.Score] {
    try await rows("hunt_leaderboard", ["hunt_id": "eq.\(id)"], .hunts)
  }
}
