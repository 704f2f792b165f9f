import Foundation

/// A photo in the queue of ``PhotoUploads``.
public struct PhotoUpload: Sendable, Equatable, Codable, Identifiable {
  /// How far the upload is.
  public enum Status: Sendable, Equatable, Codable {
    case waiting
    case sent(SentPhoto)
    /// For good, for example because the photo of the day was sent already.
    case refused(code: String, message: String)
  }

  /// Also the `Idempotency-Key`: the photo is sent once, however often the app was ended meanwhile.
  public let id: String
  public let groupID: SharedGroup.ID
  public internal(set) var status = Status.waiting
  /// The share that was sent, 0 to 1. Not stored.
  public internal(set) var progress = 0.0

  private enum CodingKeys: CodingKey { case id, groupID, status }

  init(to group: SharedGroup.ID) {
    id = UUID().uuidString.lowercased()
    groupID = group
  }
}
