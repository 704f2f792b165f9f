import Database
import Foundation
import Wire

/// A timepoint that is about to be made.
struct NewTimepoint: Sendable {
  let id: TimepointID
  let owner: UserID
  let input: GenerationInput
  let visibility: Timepoint.Visibility
  /// What is charged, as `/credits/costs` names it.
  let operation: String
  let isCharged: Bool
  var context: String?
  var callbackURL: String?
  var writesBlob = false
  var parent: Timepoint?
  /// With the digest of the request that came with it.
  var clientKey: String?
  var clientDigest: String?

  func job(at now: Date) -> GenerationJob {
    GenerationJob(
      id: id, owner: owner, input: input, callbackURL: callbackURL, writesBlob: writesBlob, createdAt: now)
  }

  func insert(at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into timepoint (id, owner_id, query, slug, status, visibility, preset, request_context, sequence_id,
        parent_id, direction, client_key, client_digest, created_at)
      values (\(id), \(owner), \(input.query), \(Slug.new(for: input.query)), 'pending', \(visibility.rawValue),
        \(input.preset.rawValue), \(context), \(parent?.sequence ?? id), \(parent?.id),
        \(input.base?.direction.rawValue), \(clientKey), \(clientDigest), \(now))
      """)
  }
}
