/// Every route that the outside can reach, area by area. What is not here is a 404; `/internal` never is.
package let publicRoutes: [Route] = Array(
  [Route.auth, Route.invites, Route.groups, Route.lists, Route.credits, Route.later].joined())

extension Route {
  /// Webhooks are longer than what apps send, and one that is refused comes again for days.
  static let webhookBytesMax = 1024 * 1024
}
