import Foundation

/// A hunt for checkpoints.
public struct ScavengerHunt: Sendable, Equatable, Codable, Identifiable {
  /// What is to be found.
  public struct Checkpoint: Sendable, Equatable, Codable, Identifiable {
    public let id: String
    public let huntID: String
    public let title: String
    public let description: String?
    public let location: Coordinate?
    public let photoRequired: Bool
    public let points: Int
    public let orderIndex: Int

    private enum CodingKeys: String, CodingKey {
      case id, title, description, location, points
      case huntID = "hunt_id"
      case photoRequired = "photo_required"
      case orderIndex = "order_index"
    }

    public init(
      id: String, huntID: String, title: String, description: String?, location: Coordinate?, photoRequired: Bool,
      points: Int, orderIndex: Int
    ) {
      self.id = id
      self.huntID = huntID
      self.title = title
      self.description = description
      self.location = location
      self.photoRequired = photoRequired
      self.points = points
      self.orderIndex = orderIndex
    }
  }

  /// That somebody has found a checkpoint.
  public struct Submission: Sendable, Equatable, Codable, Identifiable {
    public let id: String
    public let checkpointID: String
    public let userID: String
    public let photoURL: String?
    /// Whether who has made the hunt has said that it counts.
    public let verified: Bool?

    private enum CodingKeys: String, CodingKey {
      case id, verified
      case checkpointID = "checkpoint_id"
      case userID = "user_id"
      case photoURL = "photo_url"
    }

    public init(id: String, checkpointID: String, userID: String, photoURL: String?, verified: Bool?) {
      self.id = id
      self.checkpointID = checkpointID
      self.userID = userID
      self.photoURL = photoURL
      self.verified = verified
    }
  }

  /// Somebody who takes part in a hunt.
  public struct Participant: Sendable, Equatable, Codable, Identifiable {
    public let id: String
    public let huntID: String
    public let userID: String
    public let joinedAt: Date

    private enum CodingKeys: String, CodingKey {
      case id
      case huntID = "hunt_id"
      case userID = "user_id"
      case joinedAt = "joined_at"
    }

    public init(id: String, huntID: String, userID: String, joinedAt: Date) {
      self.id = id
      self.huntID = huntID
      self.userID = userID
      self.joinedAt = joinedAt
    }
  }

  /// A line of the leaderboard.
  public struct Score: Sendable, Equatable, Codable, Identifiable {
    /// Of the user.
    public let id: String
    public let name: String?
    public let score: Int
    public let completedCheckpoints: Int
    public let totalCheckpoints: Int

    private enum CodingKeys: String, CodingKey {
      case id, name, score
      case completedCheckpoints = "completed_checkpoints"
      case totalCheckpoints = "total_checkpoints"
    }

    public init(id: String, name: String?, score: Int, completedCheckpoints: Int, totalCheckpoints: Int) {
      self.id = id
      self.name = name
      self.score = score
      self.completedCheckpoints = completedCheckpoints
      self.totalCheckpoints = totalCheckpoints
    }
  }

  public let id: String
  public let title: String
  public let description: String?
  public let createdBy: String
  /// Its members see the hunt.
  public let groupID: String?
  /// Who has it can join.
  public let inviteCode: String?
  public let status: AdventureStatus
  public let startTime: Date?
  public let endTime: Date?
  public let participantCount: Int?
  public let checkpointCount: Int?
  /// The caller's, 0 to 1.
  public let progress: Double?

  private enum CodingKeys: String, CodingKey {
    case id, title, description, status, progress
    case createdBy = "created_by"
    case groupID = "group_id"
    case inviteCode = "invite_code"
    case startTime = "start_time"
    case endTime = "end_time"
    case participantCount = "participant_count"
    case checkpointCount = "checkpoint_count"
  }

  public init(
    id: String, title: String, description: String?, createdBy: String, groupID: String?, inviteCode: String?,
    status: AdventureStatus, startTime: Date?, endTime: Date?, participantCount: Int?, checkpointCount: Int?,
    progress: Double?
  ) {
    self.id = id
    self.title = title
    self.description = description
    self.createdBy = createdBy
    self.groupID = groupID
    self.inviteCode = inviteCode
    self.status = status
    self.startTime = startTime
    self.endTime = endTime
    self.participantCount = participantCount
    self.checkpointCount = checkpointCount
    self.progress = progress
  }
}
