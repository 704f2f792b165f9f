import Foundation
import Hummingbird
import NIOCore
import Web
import Wire

/// The bytes of photos, for whoever has a link: its signature is the permission.
struct PhotoFileRoutes: Sendable {
  let photos: Photos
  let receiver: PhotoReceiver
  let links: PhotoLinks
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/api/photos/{id}/file", use: view)
    routes.put("/api/photos/{id}/file", use: receive)
  }

  /// Whether somebody looks at a photo, most of which are in memory.
  @Sendable static func isView(_ request: Request) -> Bool {
    request.method == .get && request.uri.path.hasSuffix("/file")
  }

  @Sendable private func view(_ request: Request, _ context: Context) async throws -> Response {
    let now = now()
    let wanted = try WantedFile(request, context)
    try links.check(wanted.permission, expires: wanted.expires, signature: wanted.signature, at: now)
    let photo = try await photos.store.photoOfLate(wanted.photo, for: wanted.viewer, at: now)
    let headers = wanted.headers(until: photo.expiresAt, at: now)
    if request.headers[.ifNoneMatch].map(wanted.isETag(in:)) == true {
      return Response(status: .notModified, headers: headers)
    }
    let isSame = request.headers[.ifRange].map { $0 == wanted.eTag } ?? true
    let range = isSame ? ByteRange(header: request.headers[.range]) : nil
    do {
      guard let bytes = try await photos.files.read(PhotoFileName(photo.id, size: wanted.size), range) else {
        context.logger.error("a photo has lost its bytes", metadata: ["photo": "\(photo.id)"])
        throw Failure.photoNotFound
      }
      return bytes.response(isPart: range != nil, headers)
    } catch let none as RangeNotSatisfiable {
      var response = Failure.rangeNotSatisfiable.response(to: request, requestID: context.trace.requestID)
      response.headers[.contentRange] = "bytes */\(none.totalCount)"
      return response
    }
  }

  @Sendable private func receive(_ request: Request, _ context: Context) async throws -> Response {
    let now = now()
    let (query, photo) = (request.uri.queryParameters, try context.photoID())
    try links.check(
      .upload(photo), expires: query["expires"].map(String.init), signature: query["signature"].map(String.init),
      at: now)
    try await photos.checkAnnounced(photo, at: now)
    try await photos.receive(receiver.bare(request).file, as: photo)
    return .json(SuccessBody(success: true))
  }
}

/// What a link asks for.
private struct WantedFile {
  let photo: PhotoID
  let size: PhotoSize
  let viewer: UserID
  let expires: String?
  let signature: String?

  /// - Throws: 403 for a link that we cannot have made.
  init(_ request: Request, _ context: Context) throws {
    let query = request.uri.queryParameters
    guard let size = query["size"].flatMap({ Int($0) }).flatMap(PhotoSize.init),
      let viewer = query["viewer"].flatMap({ UserID(String($0)) })
    else { throw Failure.linkInvalid }
    photo = try context.id("id", else: .linkInvalid)
    self.size = size
    self.viewer = viewer
    expires = query["expires"].map(String.init)
    signature = query["signature"].map(String.init)
    eTag = "\"\(photo)-\(size.rawValue)\""
  }

  var permission: PhotoLinks.Permission { .view(photo, size, viewer) }

  /// The bytes of a photo never change.
  let eTag: String

  /// Whether an `If-None-Match` names it (RFC 9110 §13.1.2).
  func isETag(in header: String) -> Bool {
    header == "*"
      || header.split(separator: ",").contains { tag in
        let tag = tag.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        return tag == eTag || tag.hasPrefix("W/") && tag.dropFirst(2) == eTag
      }
  }

  /// Only the viewer's own device may keep it, and no longer than the photo lives.
  func headers(until end: Date, at now: Date) -> HTTPFields {
    let seconds = Int64(clamping: Int(max(0, end.timeIntervalSince(now))))
    return [
      .eTag: eTag, .cacheControl: "private, max-age=\(seconds), immutable", .acceptRanges: "bytes",
      .xContentTypeOptions: "nosniff",
    ]
  }
}

extension StoredBytes {
  fileprivate func response(isPart: Bool, _ headers: HTTPFields) -> Response {
    var headers = headers
    headers[.contentType] = "image/jpeg"
    headers[.contentLength] = String(range.count)
    if isPart { headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(totalCount)" }
    return Response(status: isPart ? .partialContent : .ok, headers: headers, body: body)
  }

  private var body: ResponseBody {
    switch content {
    case .whole(let buffer): ResponseBody(byteBuffer: buffer)
    case .pieces(let give):
      ResponseBody(contentLength: range.count) { writer in
        try await give { try await writer.write($0) }
        try await writer.finish(nil)
      }
    }
  }
}

extension Failure {
  static let rangeNotSatisfiable = Failure(
    .unsatisfiable, "range_not_satisfiable", "The photo does not have these bytes.")
}
