import StrictHTTP
import Web

/// Plans, hunts, places and shared arrival times, as tables.
extension Route {
  static let adventures: [Route] = Array([plans, hunts, submissions, places, functions].joined())

  /// The same as the service takes.
  private static let tableBytesMax = 1024 * 1024

  private static func table(_ name: String, _ methods: RequestHead.Method...) -> [Route] {
    methods.map {
      .init($0, "/rest/v1/\(name)", to: .adventures, bearer: .required, bodyBytesMax: tableBytesMax)
    }
  }

  private static let plans = table("adventure_plans", .GET, .POST, .PUT, .PATCH, .DELETE)

  private static let hunts =
    table("scavenger_hunts", .GET, .POST, .PATCH, .DELETE)
    + [
      .init(.POST, "/rest/v1/scavenger_hunts/join", to: .adventures, bearer: .required),
      .init(.POST, "/rest/v1/scavenger_hunts/{hunt}/join", to: .adventures, bearer: .required),
    ] + table("hunt_checkpoints", .GET, .POST, .PUT, .PATCH, .DELETE)

  private static let submissions =
    table("hunt_participants", .GET, .DELETE) + table("checkpoint_submissions", .GET, .POST, .PATCH)
    + table("hunt_leaderboard", .GET)

  private static let places =
    table("saved_places", .GET, .POST, .PUT, .PATCH, .DELETE)
    + table("eta_shares", .GET, .POST, .PUT, .PATCH, .DELETE)

  private static let functions: [Route] = ["health_check", "health_check_detailed", "get_system_metrics"].flatMap {
    name in
    [
      .init(.GET, "/rest/v1/rpc/\(name)", to: .adventures, bearer: .required),
      .init(.POST, "/rest/v1/rpc/\(name)", to: .adventures, bearer: .required),
    ]
  }
}
