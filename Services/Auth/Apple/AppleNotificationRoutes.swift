import Foundation
import Hummingbird
import Web

/// The endpoint for Apple's notifications.
struct AppleNotificationRoutes: Sendable {
  let apple: SignInWithApple
  let inbox: AppleNotificationInbox
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.post("/webhooks/apple/signin", use: receive)
  }

  private struct Body: Decodable {
    let payload: String
  }

  /// Stores the notification only: Apple sends it again until the response is a 200.
  @Sendable private func receive(_ request: Request, _ context: Context) async throws -> Response {
    let payload = try await request.json(Body.self).payload
    if let notification = try await apple.notification(in: payload, at: now()) {
      try await inbox.receive(notification)
    } else {
      context.logger.notice("Apple told something that this version does not know")
    }
    return .json(["received": true])
  }
}
