import StrictHTTP
import Web

/// Routes that apps already call and that no service implements yet.
extension Route {
  static let planned: [Route] = friends

  private static let friends: [Route] = [
    .init(.GET, "/api/v1/friends", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/friends/{friend}", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/notification_preference", to: .lists, bearer: .required),
    .init(.PATCH, "/api/v1/notification_preference", to: .lists, bearer: .required),
    .init(.POST, "/api/v1/analytics/app_opened", to: .lists, bearer: .required),
  ]
}
