import Foundation
import Wire

/// A moment in history with its scene, or one that is being made.
struct Timepoint: Sendable {
  enum Status: String, Codable, Sendable, CaseIterable { case pending, processing, completed, failed }
  enum Visibility: String, Codable, Sendable { case `public`, `private` }

  let id: TimepointID
  let owner: UserID
  let query: String
  let slug: String
  let status: Status
  let visibility: Visibility
  let preset: Preset
  /// nil until it is completed.
  let scene: GeneratedScene?
  let imageByteCount: Int?
  let failure: StoredFailure?
  let requestContext: JSONValue?
  let creditsCharged: Int
  let generationMilliseconds: Int?
  let sequence: TimepointID
  let parent: TimepointID?
  let direction: JumpDirection?
  let blobFolder: String?
  let blobWrittenAt: Date?
  let createdAt: Date
  let endedAt: Date?
  let deletedAt: Date?

  var hasImage: Bool { imageByteCount != nil }
  var isEnded: Bool { status == .completed || status == .failed }
}

typealias TimepointID = ID<Timepoint>

/// Why a generation has failed, as its owner may know it. Stored, so that every waiting request gets the same answer.
struct StoredFailure: Codable, Hashable, Sendable {
  let kind: Failure.Kind
  let code: String
  let message: String
  let retryAfterSeconds: Int?

  init(_ failure: Failure) {
    kind = failure.kind
    code = failure.code
    message = failure.message
    retryAfterSeconds = failure.retryAfterSeconds
  }

  var failure: Failure { Failure(kind, code, message, retryAfterSeconds: retryAfterSeconds) }
}

extension Failure {
  static let timepointNotFound = Failure(.notFound, "timepoint_not_found", "There is no such timepoint.")
  static let timepointPrivate = Failure(.forbidden, "timepoint_private", "This scene is private.")
  static let notOwner = Failure(.forbidden, "not_the_owner", "Only its owner may change this timepoint.")
  static let timepointNotCompleted = Failure(
    .malformed, "timepoint_not_completed", "This timepoint is not completed.")
}
