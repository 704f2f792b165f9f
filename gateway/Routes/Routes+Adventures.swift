import StrictHTTP
import Web

/// Plans, hunts, places and shared arrival times, as tables.
extension Route {
  static let adventures: [Route] = Array([plans, hunts, places].joined())

  private static let plans: [Route] = [
    .init(.GET, "/rest/v1/adventure_plans", to: .adventures, bearer: .required),
    .init(.POST, "/rest/v1/adventure_plans", to: .adventures, bearer: .required),
    .init(.PATCH, "/rest/v1/adventure_plans", to: .adventures, bearer: .required),
    .init(.DELETE, "/rest/v1/adventure_plans", to: .adventures, bearer: .required),
    .init(.GET, "/rest/v1/rpc/health_check", to: .adventures, bearer: .required),
    .init(.GET, "/rest/v1/rpc/health_check_detailed", to: .adventures, bearer: .required),
    .init(.GET, "/rest/v1/rpc/get_system_metrics", to: .adventures, bearer: .required),
  ]

  private static let hunts: [Route] = [
    .init(.POST, "/rest/v1/scavenger_hunts", to: .adventures, bearer: .required),
    .init(.PATCH, "/rest/v1/scavenger_hunts", to: .adventures, bearer: .required),
    .init(.POST, "/rest/v1/scavenger_hunts/{hunt}/join", to: .adventures, bearer: .required),
    .init(.POST, "/rest/v1/checkpoint_submissions", to: .adventures, bearer: .required),
    .init(.GET, "/rest/v1/hunt_leaderboard", to: .adventures, bearer: .required),
  ]

  private static let places: [Route] = [
    .init(.GET, "/rest/v1/saved_places", to: .adventures, bearer: .required),
    .init(.POST, "/rest/v1/saved_places", to: .adventures, bearer: .required),
    .init(.DELETE, "/rest/v1/saved_places", to: .adventures, bearer: .required),
    .init(.GET, "/rest/v1/eta_shares", to: .adventures, bearer: .required),
    .init(.POST, "/rest/v1/eta_shares", to: .adventures, bearer: .required),
    .init(.PATCH, "/rest/v1/eta_shares", to: .adventures, bearer: .required),
    .init(.DELETE, "/rest/v1/eta_shares", to: .adventures, bearer: .required),
  ]
}
