import StrictHTTP
import Web

/// Invites by link and by code to collections, groups and lists.
extension Route {
  static let invites: [Route] = Array([collectionInvites, groupInvites, listInvites, invitePages].joined())

  private static let collectionInvites: [Route] = [
    .init(.POST, "/collections/{collection}/invites", to: .invites, bearer: .required),
    .init(.GET, "/collections/{collection}/invites", to: .invites, bearer: .required),
    .init(.DELETE, "/collections/{collection}/invites/{invite}", to: .invites, bearer: .required),
    .init(.GET, "/invites/resolve", to: .invites, limit: .preview),
    .init(.POST, "/invites/{invite}/accept", to: .invites, bearer: .required),
    .init(.POST, "/invites/{invite}/reject", to: .invites, bearer: .required),
  ]

  private static let groupInvites: [Route] = [
    .init(.POST, "/api/invites/check-users", to: .invites, bearer: .required, limit: .search),
    .init(.POST, "/api/invites/send", to: .invites, bearer: .required),
    .init(.POST, "/api/invites/redeem", to: .invites, bearer: .required),
    .init(.POST, "/api/invites/redeem/{code}", to: .invites, bearer: .required),
    .init(.GET, "/api/groups/{group}/invites", to: .invites, bearer: .required),
    .init(.POST, "/api/groups/{group}/invites", to: .invites, bearer: .required),
    .init(.DELETE, "/api/groups/{group}/invites/{invite}", to: .invites, bearer: .required),
    .init(.GET, "/api/invites/pending/{group}", to: .invites, bearer: .required),
  ]

  private static let listInvites: [Route] = [
    .init(.GET, "/api/v1/lists/{list}/invites", to: .invites, bearer: .required),
    .init(.POST, "/api/v1/lists/{list}/invites", to: .invites, bearer: .required),
    .init(.DELETE, "/api/v1/lists/{list}/invites", to: .invites, bearer: .required),
    .init(.DELETE, "/api/v1/lists/{list}/invites/{invite}", to: .invites, bearer: .required),
    .init(.GET, "/api/v1/invites", to: .invites, bearer: .required),
    .init(.GET, "/api/v1/invites/{code}", to: .invites, limit: .preview),
    .init(.POST, "/api/v1/invites/{code}/accept", to: .invites, bearer: .required),
    .init(.POST, "/api/v1/invites/{code}/decline", to: .invites, bearer: .required),
  ]

  /// Pages for invite links, and the association files by which iOS opens the app instead.
  private static let invitePages: [Route] = [
    .init(.GET, "/invite/{token}", to: .invites, limit: .preview),
    .init(.GET, "/i/{code}", to: .invites, limit: .preview),
    .init(.GET, "/i/{code}/qr.svg", to: .invites, limit: .preview),
    .init(.GET, "/i/{code}/qr.png", to: .invites, limit: .preview),
    .init(.GET, "/apple-app-site-association", to: .invites),
    .init(.GET, "/.well-known/apple-app-site-association", to: .invites),
  ]
}
