import Foundation
import Hummingbird
import Web

/// Where Apple tells what has become of people who have signed in with it.
struct AppleNoticeRoutes: Sendable {
  let apple: SignInWithApple
  let notices: AppleNotices
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.post("/webhooks/apple/signin", use: take)
  }

  private struct Body: Decodable {
    let payload: String
  }

  /// Apple sends it again until it is answered with 200, so nothing but storing is done here.
  @Sendable private func take(_ request: Request, _ context: Context) async throws -> Response {
    let payload = try await request.json(Body.self).payload
    if let notice = try await apple.notice(in: payload, at: now()) {
      try await notices.take(notice)
    } else {
      context.logger.notice("Apple told something that this version does not know")
    }
    return .json(["received": true])
  }
}
