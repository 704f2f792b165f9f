import Foundation

/// A place on a map.
public struct Coordinate: Sendable, Hashable, Codable {
  public let latitude: Double
  public let longitude: Double

  /// - Parameters:
  ///   - latitude: in degrees, -90 to 90.
  ///   - longitude: in degrees, -180 to 180.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// A plan for a day out.
public struct AdventurePlan: Sendable, Equatable, Decodable, Identifiable {
  /// Where a plan leads.
  public struct Stop: Sendable, Equatable, Codable {
    public let name: String?
    public let address: String?
    public let latitude: Double?
    public let longitude: Double?

    /// - Parameter coordinate: nil where the place is not known.
    public init(name: String, address: String? = nil, at coordinate: Coordinate? = nil) {
      self.name = name
      self.address = address
      latitude = coordinate?.latitude
      longitude = coordinate?.longitude
    }
  }

  public let id: String
  public let userID: String
  public let title: String
  public let description: String?
  public let stops: [Stop]?
  public let status: AdventureStatus
  public let createdAt: Date
  public let updatedAt: Date
}

/// How far a plan or a hunt is.
public enum AdventureStatus: String, Sendable, Codable { case draft, active, completed, cancelled }

/// A place that the user has saved.
public struct SavedPlace: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let userID: String
  public let name: String
  public let address: String?
  public let latitude: Double?
  public let longitude: Double?
  public let category: String?
  public let createdAt: Date
}

/// A group of people who go out together, joined by a code.
public struct SocialGroup: Sendable, Equatable, Decodable, Identifiable {
  /// Who is in a group, and since when.
  public struct Membership: Sendable, Equatable, Decodable, Identifiable {
    public let id: String
    public let groupID: String
    public let userID: String
    public let joinedAt: Date
  }

  public let id: String
  public let name: String
  public let description: String?
  public let createdBy: String
  public let inviteCode: String
  /// The text of a QR code.
  public let qrCode: String?
  public let memberCount: Int?
  public let createdAt: Date
  public let updatedAt: Date
}

/// A hunt for checkpoints.
public struct ScavengerHunt: Sendable, Equatable, Decodable, Identifiable {
  /// A checkpoint of a hunt that is made.
  public struct NewCheckpoint: Sendable, Encodable {
    public let title: String
    public let description: String?
    public let location: Coordinate?
    public let photoRequired: Bool
    public let points: Int

    /// - Parameter photoRequired: whether a submission has to name a photo.
    public init(
      title: String, description: String? = nil, location: Coordinate? = nil, photoRequired: Bool = false,
      points: Int = 10
    ) {
      self.title = title
      self.description = description
      self.location = location
      self.photoRequired = photoRequired
      self.points = points
    }

    /// - Parameter hunt: nil: that of the checkpoint that is changed.
    func body(of hunt: String? = nil) -> Body {
      Body(
        huntID: hunt, title: title, description: description, location: location, photoRequired: photoRequired,
        points: points)
    }

    struct Body: Encodable, Sendable {
      let huntID: String?
      let title: String
      let description: String?
      let location: Coordinate?
      let photoRequired: Bool
      let points: Int
    }
  }

  /// What is to be found.
  public struct Checkpoint: Sendable, Equatable, Decodable, Identifiable {
    public let id: String
    public let huntID: String
    public let title: String
    public let description: String?
    public let location: Coordinate?
    public let photoRequired: Bool
    public let points: Int
    public let orderIndex: Int
  }

  /// That somebody has found a checkpoint.
  public struct Submission: Sendable, Equatable, Decodable, Identifiable {
    public let id: String
    public let checkpointID: String
    public let userID: String
    public let photoURL: String?
    /// Whether who has made the hunt has said that it counts.
    public let verified: Bool?
  }

  /// Somebody who takes part in a hunt.
  public struct Participant: Sendable, Equatable, Decodable, Identifiable {
    public let id: String
    public let huntID: String
    public let userID: String
    public let joinedAt: Date
  }

  /// A line of the leaderboard.
  public struct Score: Sendable, Equatable, Decodable, Identifiable {
    /// Of the user.
    public let id: String
    public let name: String?
    public let score: Int
    public let completedCheckpoints: Int
    public let totalCheckpoints: Int
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
}

/// When somebody will arrive, for those whom they told.
public struct ArrivalShare: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let userID: String
  public let routeData: JSONValue
  /// The ids of users.
  public let recipients: [String]
  public let isActive: Bool
  public let expiresAt: Date
}
