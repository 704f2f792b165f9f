/// All public routes. Other paths are 404; no path below `/internal` may be listed.
package let publicRoutes: [Route] = Array(
  [
    Route.auth, Route.invites, Route.groups, Route.lists, Route.credits, Route.events, Route.adventures,
    Route.timepoints,
  ].joined())

extension Route {
  /// Larger than for requests of apps, because a webhook that is refused is sent again for days.
  static let webhookBytesMax = 256 * 1024
}
