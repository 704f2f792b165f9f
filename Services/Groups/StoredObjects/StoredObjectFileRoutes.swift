import Foundation
import Hummingbird
import Logging
import Photos
import Web
import Wire

/// Downloads of the files of `/storage/v1`: with a bearer token, of a public bucket, or with the token of a link.
struct StoredObjectFileRoutes: Sendable {
  let access: StoredObjectAccess
  let files: any PhotoFiles
  let links: StoredObjectLinks
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    for path in StoredObjectRoutes.paths {
      userRoutes.get("/storage/v1/object/{bucket}/\(path)", use: download)
      routes.get("/storage/v1/object/public/{bucket}/\(path)", use: downloadPublic)
      routes.get("/storage/v1/object/sign/{bucket}/\(path)", use: downloadSigned)
    }
  }

  @Sendable private func download(_ request: Request, _ context: SignedIn) async throws -> Response {
    let object = try await access.object(try context.readableName(), for: context.user)
    return try await response(object, to: request, cache: "private, max-age=\(object.cacheSeconds)", context.logger)
  }

  @Sendable private func downloadPublic(_ request: Request, _ context: Context) async throws -> Response {
    let object = try await access.object(try context.readableName(), for: nil)
    return try await response(object, to: request, cache: "public, max-age=\(object.cacheSeconds)", context.logger)
  }

  @Sendable private func downloadSigned(_ request: Request, _ context: Context) async throws -> Response {
    let (name, now) = (try context.readableName(), now())
    let (viewer, end) = try links.checked(request.uri.queryParameters["token"].map(String.init), for: name, at: now)
    let object = try await access.object(name, for: viewer)
    let seconds = min(object.cacheSeconds, Int(end.timeIntervalSince(now).rounded(.down)))
    return try await response(object, to: request, cache: "private, max-age=\(seconds)", context.logger)
  }

  /// `size=320` asks for the small rendition; `download` for a file to be saved, under its value or its own name.
  private func response(
    _ object: StoredObject, to request: Request, cache: String, _ logger: Logger
  ) async throws -> Response {
    let query = request.uri.queryParameters
    let isSmall = query["size"].map(String.init) == "\(PhotoSize.small.rawValue)"
    var headers: HTTPFields = [.cacheControl: cache, .xContentTypeOptions: "nosniff"]
    if let wanted = query["download"].map(String.init) {
      headers[.contentDisposition] = "attachment; filename=\"\(Self.fileName(wanted, of: object.name))\""
    }
    let eTag = isSmall ? "\"\(object.file)-small\"" : object.eTag
    let name = PhotoFileName(object.file.uuid, isSmall ? .small : .large)
    guard let response = try await files.response(name, eTag: eTag, headers, to: request) else {
      logger.error("a file has lost its bytes", metadata: ["object": "\(object.id)"])
      throw Failure.objectNotFound
    }
    return response
  }

  /// The name that the client wants, if it has only letters, digits, dots, hyphens and underscores.
  private static func fileName(_ wanted: String, of name: StoredObjectName) -> String {
    wanted.wholeMatch(of: /[A-Za-z0-9._-]{1,100}/) == nil ? name.parts.last ?? "photo.jpg" : wanted
  }
}
