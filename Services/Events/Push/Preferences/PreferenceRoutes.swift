import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints by which users say what they want to be notified of, and that they have opened the app.
struct PreferenceRoutes: Sendable {
  let preferences: PreferenceStore
  let rights: TopicRights
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/notification_preference", use: show)
    userRoutes.patch("/api/v1/notification_preference", use: change)
    userRoutes.put("/api/groups/{group}/mute", use: mute)
    userRoutes.delete("/api/groups/{group}/mute", use: unmute)
    userRoutes.post("/api/v1/analytics/app_opened", use: appOpened)
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    Self.response(try await preferences.preference(of: context.user))
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let change = try await request.json(NotificationPreferenceChange.self)
    return Self.response(try await preferences.change(change, of: context.user, at: now()))
  }

  private static func response(_ preference: NotificationPreference) -> Response {
    .json(PreferenceAnswer(notificationPreference: ClientBodies.NotificationPreference(preference)))
  }

  /// A group of which the user is no member is as unknown as one that does not exist.
  @Sendable private func mute(_ request: Request, _ context: SignedIn) async throws -> Response {
    let group = try group(context)
    guard let topic = TopicName("\(TopicName.Kind.socialGroups.rawValue):\(group)"),
      try await rights.mayRead(topic, context.user)
    else { throw Failure.groupNotFound }
    try await preferences.mute(group, for: context.user, at: now())
    return Response(status: .noContent)
  }

  /// Succeeds also for a group that is not muted.
  @Sendable private func unmute(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await preferences.unmute(try group(context), for: context.user)
    return Response(status: .noContent)
  }

  @Sendable private func appOpened(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await preferences.clearUnread(of: context.user)
    return Response(status: .noContent)
  }

  private func group(_ context: SignedIn) throws -> GroupID {
    guard let group = context.parameters.get("group").flatMap({ GroupID($0) }) else { throw Failure.groupNotFound }
    return group
  }
}

extension Failure {
  fileprivate static let groupNotFound = Failure(.notFound, "group_not_found", "There is no such group.")
}
