import Foundation
import Support
import Testing

@testable import KithClient

/// Rows of tables are written by SQL, not by the client's types: each member of a type is a column of its table.
@Suite struct RowColumnTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000)

  private static let rows: [(table: String, row: any Encodable & Sendable)] = [
    (
      "adventure_plans",
      AdventurePlan(
        id: "a", userID: "u", title: "Out", description: "d", stops: [], status: .draft, createdAt: now, updatedAt: now)
    ),
    (
      "saved_places",
      SavedPlace(
        id: "p", userID: "u", name: "Shop", address: "a", latitude: 1, longitude: 2, category: "c", createdAt: now)
    ),
    (
      "eta_shares",
      ArrivalShare(id: "e", userID: "u", routeData: [:], recipients: [], isActive: true, expiresAt: now)
    ),
    (
      "social_groups",
      SocialGroup(
        id: "g", name: "Us", description: "d", createdBy: "u", inviteCode: "c", qrCode: "q", memberCount: 1,
        createdAt: now, updatedAt: now)
    ),
    ("group_members", SocialGroup.Membership(id: "m", groupID: "g", userID: "u", joinedAt: now)),
    (
      "scavenger_hunts",
      ScavengerHunt(
        id: "h", title: "City", description: "d", createdBy: "u", groupID: "g", inviteCode: "c", status: .active,
        startTime: now, endTime: now, participantCount: 1, checkpointCount: 1, progress: 0.5)
    ),
    (
      "hunt_checkpoints",
      ScavengerHunt.Checkpoint(
        id: "c", huntID: "h", title: "Door", description: "d", location: Coordinate(latitude: 1, longitude: 2),
        photoRequired: true, points: 1, orderIndex: 0)
    ),
    (
      "hunt_participants",
      ScavengerHunt.Participant(id: "p", huntID: "h", userID: "u", joinedAt: now)
    ),
    (
      "checkpoint_submissions",
      ScavengerHunt.Submission(id: "s", checkpointID: "c", userID: "u", photoURL: "p", verified: true)
    ),
    (
      "hunt_leaderboard",
      ScavengerHunt.Score(id: "u", name: "n", score: 1, completedCheckpoints: 1, totalCheckpoints: 1)
    ),
  ]

  @Test func eachMemberIsAColumn() async throws {
    try await withStack(engines[0]) { stack in
      let alice = try await stack.signIn("alice").browser
      for (table, row) in Self.rows {
        let members = try JSONSerialization.jsonObject(with: WireCoding.encode(row)) as? [String: Any]
        let names = try #require(members).keys.sorted()
        #expect(names.count > 3, "\(table)")
        let read = try await alice.get("/rest/v1/\(table)?select=\(names.joined(separator: ","))")
        #expect(read.status == 200, "\(table): \(read.text)")
        // The premise: a name that is no column is refused.
        #expect(try await alice.get("/rest/v1/\(table)?select=\(names[0]),nothing").status == 400, "\(table)")
      }
    }
  }
}
