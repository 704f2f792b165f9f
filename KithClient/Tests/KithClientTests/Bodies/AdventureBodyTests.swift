import Foundation
import Testing

@testable import KithClient

/// The rows of adventures, which have more members than are read here.
@Suite struct AdventureBodyTests {
  private static let time = #""2026-11-21T08:15:30.123Z""#

  @Test func plansAndPlaces() throws {
    try expectRoundTrip(
      AdventurePlan.self,
      """
      {"id": "a", "user_id": "u", "title": "Out", "description": "d", "stops": [{"name": "Shop", "address": "1 Main St",
       "latitude": 37.7749, "longitude": -122.4194}], "status": "draft", "created_at": \(Self.time),
       "updated_at": \(Self.time)}
      """)
    try expectRoundTrip(
      SavedPlace.self,
      """
      {"id": "p", "user_id": "u", "name": "Shop", "address": "1 Main St", "latitude": 37.7749, "longitude": -122.4194,
       "category": "coffee", "created_at": \(Self.time)}
      """)
    try expectRoundTrip(
      ArrivalShare.self,
      """
      {"id": "e", "user_id": "u", "route_data": {"distance": 5.2}, "recipients": ["v"], "is_active": true,
       "expires_at": \(Self.time)}
      """)
  }

  @Test func groupsAndHunts() throws {
    try expectRoundTrip(
      SocialGroup.self,
      """
      {"id": "g", "name": "Us", "description": "d", "created_by": "u", "invite_code": "K7QM2X", "qr_code": "q",
       "member_count": 1, "created_at": \(Self.time), "updated_at": \(Self.time)}
      """)
    try expectRoundTrip(
      SocialGroup.Membership.self, #"{"id": "m", "group_id": "g", "user_id": "u", "joined_at": \#(Self.time)}"#)
    try expectRoundTrip(
      ScavengerHunt.self,
      """
      {"id": "h", "title": "City", "description": "d", "created_by": "u", "group_id": "g", "invite_code": "c",
       "status": "active", "start_time": \(Self.time), "end_time": \(Self.time), "participant_count": 1,
       "checkpoint_count": 1, "progress": 0.5}
      """)
    try expectRoundTrip(
      ScavengerHunt.Checkpoint.self,
      """
      {"id": "c", "hunt_id": "h", "title": "Door", "description": "red", "location": {"latitude": 37.7749,
       "longitude": -122.4194}, "photo_required": true, "points": 20, "order_index": 0}
      """)
    try expectRoundTrip(
      ScavengerHunt.Submission.self,
      """
      {"id": "s", "checkpoint_id": "c", "user_id": "u", "photo_url": "https://a.example/photo.jpg", "verified": false}
      """)
    try expectRoundTrip(
      ScavengerHunt.Participant.self, #"{"id": "p", "hunt_id": "h", "user_id": "u", "joined_at": \#(Self.time)}"#)
    try expectRoundTrip(
      ScavengerHunt.Score.self,
      #"{"id": "u", "name": "Kim", "score": 20, "completed_checkpoints": 1, "total_checkpoints": 3}"#)
  }
}
