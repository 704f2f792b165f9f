import Foundation

/// The data models of the app, as its contract declares them.
enum ContractModels {
  struct User: Codable, Identifiable {
    let id: UUID
    let email: String
    let displayName: String?
    let avatarUrl: String?
    let createdAt: Date
    let updatedAt: Date
  }

  struct SavedPlace: Codable, Identifiable {
    let id: UUID
    let userId: UUID
    let name: String
    let address: String
    let latitude: Double
    let longitude: Double
    let placeType: String
    let createdAt: Date
    let updatedAt: Date
  }

  struct Adventure: Codable, Identifiable {
    let id: UUID
    let userId: UUID
    let title: String
    let description: String?
    let routeData: RouteData
    let stops: [Stop]
    let status: String
    let createdAt: Date
    let updatedAt: Date
  }

  struct SocialGroup: Codable, Identifiable {
    let id: UUID
    let name: String
    let description: String?
    let createdBy: UUID
    let inviteCode: String
    let qrCode: String
    let memberCount: Int
    let createdAt: Date
    let updatedAt: Date
  }

  struct ScavengerHunt: Codable, Identifiable {
    let id: UUID
    let title: String
    let description: String?
    let createdBy: UUID
    let groupId: UUID?
    let status: String
    let startTime: Date?
    let endTime: Date?
    let participantCount: Int
    let checkpointCount: Int
    let progress: Double
    let createdAt: Date
    let updatedAt: Date
  }

  struct ETAShare: Codable, Identifiable {
    let id: UUID
    let userId: UUID
    let routeData: RouteData
    let recipients: [UUID]
    let isActive: Bool
    let expiresAt: Date
    let createdAt: Date
    let updatedAt: Date
  }

  struct RouteData: Codable {
    let origin: Place
    let destination: Place
    let distance: Double
  }

  struct Place: Codable {
    let latitude: Double
    let longitude: Double
  }

  struct Stop: Codable {
    let name: String
  }
}
