import StrictHTTP
import Web

/// Groups and their photos, files of `/storage/v1`, collections, and blocked users.
extension Route {
  static let groups: [Route] = Array([apiGroups, socialGroups, photos, objects, blocks, collections].joined())

  private static let apiGroups: [Route] = [
    .init(.GET, "/api/groups", to: .groups, bearer: .required),
    .init(.POST, "/api/groups", to: .groups, bearer: .required),
    .init(.GET, "/api/groups/{group}", to: .groups, bearer: .required),
    .init(.PUT, "/api/groups/{group}", to: .groups, bearer: .required),
    .init(.DELETE, "/api/groups/{group}", to: .groups, bearer: .required),
    .init(.DELETE, "/api/groups/{group}/members/{user}", to: .groups, bearer: .required),
    .init(.PUT, "/api/groups/{group}/owner", to: .groups, bearer: .required),
    .init(.POST, "/api/groups/{group}/close", to: .groups, bearer: .required),
    .init(.GET, "/api/groups/{group}/daily-status", to: .groups, bearer: .required),
    .init(.POST, "/api/groups/{group}/mark-sent", to: .groups, bearer: .required),
  ]

  private static let socialGroups: [Route] = [
    .init(.GET, "/rest/v1/social_groups", to: .groups, bearer: .required),
    .init(.POST, "/rest/v1/social_groups", to: .groups, bearer: .required),
    .init(.PUT, "/rest/v1/social_groups", to: .groups, bearer: .required),
    .init(.PATCH, "/rest/v1/social_groups", to: .groups, bearer: .required),
    .init(.DELETE, "/rest/v1/social_groups", to: .groups, bearer: .required),
    .init(.POST, "/rest/v1/social_groups/join", to: .groups, bearer: .required),
    .init(.GET, "/rest/v1/group_members", to: .groups, bearer: .required),
    .init(.POST, "/rest/v1/group_members", to: .groups, bearer: .required),
    .init(.DELETE, "/rest/v1/group_members", to: .groups, bearer: .required),
  ]

  private static let photos: [Route] = [
    .init(
      .POST, "/api/photos/upload", to: .groups, bearer: .required, limit: .upload, bodyBytesMax: photoBytesMax,
      responseSeconds: 60, bodySeconds: 120),
    .init(.POST, "/api/photos/upload-url", to: .groups, bearer: .required),
    .init(.POST, "/api/photos/confirm-upload", to: .groups, bearer: .required, limit: .upload, responseSeconds: 60),
    .init(.GET, "/api/photos/{group}/today", to: .groups, bearer: .required),
    .init(.GET, "/api/photos/{photo}", to: .groups, bearer: .required),
    .init(.DELETE, "/api/photos/{photo}", to: .groups, bearer: .required),
    // Signed links: the signature in the query authorizes the request.
    .init(.GET, "/api/photos/{photo}/file", to: .groups, limit: .photo),
    .init(
      .PUT, "/api/photos/{photo}/file", to: .groups, limit: .upload, bodyBytesMax: photoBytesMax, responseSeconds: 60,
      bodySeconds: 120),
  ]

  /// Files that users store under names, as Supabase's clients do. A link that is signed needs no bearer token.
  private static let objects: [Route] =
    [
      .init(.DELETE, "/storage/v1/object/{bucket}", to: .groups, bearer: .required),
      .init(.POST, "/storage/v1/object/list/{bucket}", to: .groups, bearer: .required),
      .init(.POST, "/storage/v1/object/sign/{bucket}", to: .groups, bearer: .required),
    ]
    + ["{user}/{first}", "{user}/{first}/{second}", "{user}/{first}/{second}/{third}"].flatMap { path in
      [
        objectUpload(.POST, "/storage/v1/object/{bucket}/\(path)"),
        objectUpload(.PUT, "/storage/v1/object/{bucket}/\(path)"),
        .init(.GET, "/storage/v1/object/{bucket}/\(path)", to: .groups, bearer: .required, limit: .photo),
        .init(.GET, "/storage/v1/object/info/{bucket}/\(path)", to: .groups, bearer: .required),
        .init(.GET, "/storage/v1/object/public/{bucket}/\(path)", to: .groups, limit: .photo),
        .init(.GET, "/storage/v1/object/sign/{bucket}/\(path)", to: .groups, limit: .photo),
        .init(.POST, "/storage/v1/object/sign/{bucket}/\(path)", to: .groups, bearer: .required),
      ]
    }

  private static func objectUpload(_ method: RequestHead.Method, _ path: String) -> Route {
    .init(
      method, path, to: .groups, bearer: .required, limit: .upload, bodyBytesMax: photoBytesMax, responseSeconds: 60,
      bodySeconds: 120)
  }

  /// A photo of 10 MB and the overhead of multipart.
  private static let photoBytesMax = 11 * 1024 * 1024

  private static let blocks: [Route] = [
    .init(.POST, "/users/{user}/block", to: .groups, bearer: .required),
    .init(.DELETE, "/users/{user}/block", to: .groups, bearer: .required),
    .init(.POST, "/api/users/{user}/block", to: .groups, bearer: .required),
    .init(.DELETE, "/api/users/{user}/block", to: .groups, bearer: .required),
  ]

  private static let collections: [Route] = [
    .init(.GET, "/collections", to: .groups, bearer: .required),
    .init(.POST, "/collections", to: .groups, bearer: .required),
    .init(.GET, "/collections/{collection}", to: .groups, bearer: .required),
    .init(.PATCH, "/collections/{collection}", to: .groups, bearer: .required),
    .init(.DELETE, "/collections/{collection}", to: .groups, bearer: .required),
    .init(.GET, "/collections/{collection}/members", to: .groups, bearer: .required),
    .init(.PATCH, "/collections/{collection}/members/{member}", to: .groups, bearer: .required),
    .init(.DELETE, "/collections/{collection}/members/{member}", to: .groups, bearer: .required),
  ]
}
