import StrictHTTP
import Web

/// Routes that apps already call and that no service implements yet.
extension Route {
  static let planned: [Route] = Array([adventures, hunts, places, timepoints, interactions, friends].joined())

  private static let adventures: [Route] = [
    .init(.GET, "/rest/v1/users", to: .adventures, bearer: .required),
    .init(.PATCH, "/rest/v1/users", to: .adventures, bearer: .required),
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

  private static let timepoints: [Route] = [
    .init(.POST, "/api/v1/timepoints/generate", to: .timepoints, bearer: .required),
    // Generating takes up to two minutes.
    .init(.POST, "/api/v1/timepoints/generate/sync", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(
      .POST, "/api/v1/timepoints/generate/stream", to: .timepoints, bearer: .required, responseSeconds: 30,
      idleSeconds: 150),
    // Public timepoints need no token.
    .init(.GET, "/api/v1/timepoints", to: .timepoints, bearer: .optional),
    .init(.GET, "/api/v1/timepoints/{timepoint}", to: .timepoints, bearer: .optional),
    .init(.PATCH, "/api/v1/timepoints/{timepoint}/visibility", to: .timepoints, bearer: .required),
    .init(.GET, "/api/v1/users/me/timepoints", to: .timepoints, bearer: .required),
  ]

  private static let interactions: [Route] = [
    .init(.POST, "/api/v1/interactions/{timepoint}/chat", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/interactions/{timepoint}/dialog", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/interactions/{timepoint}/survey", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/temporal/{timepoint}/next", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/temporal/{timepoint}/prior", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.GET, "/api/v1/temporal/{timepoint}/sequence", to: .timepoints, bearer: .required),
  ]

  private static let friends: [Route] = [
    .init(.GET, "/api/v1/friends", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/friends/{friend}", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/notification_preference", to: .lists, bearer: .required),
    .init(.PATCH, "/api/v1/notification_preference", to: .lists, bearer: .required),
    .init(.POST, "/api/v1/analytics/app_opened", to: .lists, bearer: .required),
  ]
}
