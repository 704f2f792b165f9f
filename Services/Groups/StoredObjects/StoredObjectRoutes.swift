import ClientBodies
import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// Uploads, links, lists and deletes files of `/storage/v1`, as Supabase's clients do.
struct StoredObjectRoutes: Sendable {
  let store: StoredObjectStore
  let uploads: StoredObjectUploads
  let access: StoredObjectAccess
  let links: StoredObjectLinks
  let now: @Sendable () -> Date

  /// The forms of a path after the bucket: the owner's id and one to three parts.
  static let paths = ["{user}/{first}", "{user}/{first}/{second}", "{user}/{first}/{second}/{third}"]

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    for path in Self.paths {
      userRoutes.post("/storage/v1/object/{bucket}/\(path)", use: upload)
      userRoutes.put("/storage/v1/object/{bucket}/\(path)", use: replace)
      userRoutes.post("/storage/v1/object/sign/{bucket}/\(path)", use: sign)
      userRoutes.get("/storage/v1/object/info/{bucket}/\(path)", use: info)
    }
    userRoutes.post("/storage/v1/object/sign/{bucket}", use: signMany)
    userRoutes.post("/storage/v1/object/list/{bucket}", use: list)
    userRoutes.delete("/storage/v1/object/{bucket}", use: delete)
  }

  @Sendable private func upload(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await stored(request, context, replaces: request.headers[.upsert]?.lowercased() == "true")
  }

  @Sendable private func replace(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await stored(request, context, replaces: true)
  }

  private func stored(_ request: Request, _ context: SignedIn, replaces: Bool) async throws -> Response {
    let bucket = try context.bucket()
    guard context.parameters.get("user").flatMap({ UserID($0) }) == context.user else { throw Failure.notOwnObject }
    guard let name = context.objectName(in: bucket) else { throw Failure.objectNameInvalid }
    return .json(UploadedObjectBody(try await uploads.receive(request, as: name, replaces: replaces)))
  }

  @Sendable private func sign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (name, now) = (try context.readableName(), now())
    let end = try await request.json(SignBody.self).end(from: now)
    _ = try await access.object(name, for: context.user)
    return .json(SignedURLAnswer(signedURL: links.path(to: name, for: context.user, until: end)))
  }

  /// Files that do not exist, or that the caller may not read, have an error each.
  @Sendable private func signMany(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (bucket, now) = (try context.bucket(), now())
    let body = try await request.json(SignManyBody.self)
    guard body.paths.count <= SignManyBody.pathsMax else {
      throw Failure.invalid(.init("paths", "must have at most \(SignManyBody.pathsMax) paths"))
    }
    let end = try body.expiresIn.end(from: now)
    var signed: [SignedPath] = []
    for path in body.paths {
      do {
        guard let name = StoredObjectName(bucket, path: path) else { throw Failure.objectNotFound }
        _ = try await access.object(name, for: context.user)
        signed.append(.init(error: nil, path: path, signedURL: links.path(to: name, for: context.user, until: end)))
      } catch let failure as Failure where failure == .objectNotFound {
        signed.append(.init(error: Self.noAccess, path: path, signedURL: nil))
      }
    }
    return .json(signed)
  }

  private static let noAccess = "Either the object does not exist or you do not have access to it"

  @Sendable private func info(_ request: Request, _ context: SignedIn) async throws -> Response {
    .exactJSON(StoredFileInfo(try await access.object(try context.readableName(), for: context.user)))
  }

  /// Lists the caller's own files only.
  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let bucket = try context.bucket()
    let listing = try await request.json(StoredObjectListing.self)
    try listing.check()
    return .exactJSON(listing.entries(among: try await store.objects(of: context.user, in: bucket)))
  }

  /// Files that do not exist, or are another user's, are left out.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let bucket = try context.bucket()
    let body = try await request.json(DeleteObjectsBody.self, bytesMax: 512 * 1024)
    guard body.prefixes.count <= DeleteObjectsBody.prefixesMax else {
      throw Failure.invalid(.init("prefixes", "must have at most \(DeleteObjectsBody.prefixesMax) paths"))
    }
    let names = body.prefixes.compactMap { StoredObjectName(bucket, path: $0) }
    return .exactJSON(try await store.delete(names, of: context.user, at: now()).map(DeletedObjectBody.init))
  }
}

extension RequestContext {
  /// - Throws: 404 for a bucket that does not exist.
  func bucket() throws(Failure) -> StoredObjectName.Bucket {
    guard let bucket = parameters.get("bucket").flatMap(StoredObjectName.Bucket.init) else { throw .bucketNotFound }
    return bucket
  }

  /// nil for a name that no file can have.
  func objectName(in bucket: StoredObjectName.Bucket) -> StoredObjectName? {
    guard let owner = parameters.get("user").flatMap({ UserID($0) }) else { return nil }
    return StoredObjectName(
      bucket, owner: owner, parts: ["first", "second", "third"].compactMap { parameters.get($0) })
  }

  /// - Throws: 404 for a bucket or a name that cannot exist.
  func readableName() throws(Failure) -> StoredObjectName {
    guard let name = objectName(in: try bucket()) else { throw .objectNotFound }
    return name
  }
}

extension HTTPField.Name {
  // `!`: the name is a valid token.
  fileprivate static let upsert = Self("x-upsert")!
}
