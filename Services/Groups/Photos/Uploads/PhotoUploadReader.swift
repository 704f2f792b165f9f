import Foundation
import Hummingbird
import NIOCore
import Photos
import Wire

/// An uploaded photo for a group.
struct PhotoUpload: Sendable {
  let file: UploadedFile
  let group: GroupID
  /// Equal for equal uploads, for the idempotency key.
  let fingerprint: Data
}

/// Reads uploads: form data with `file` and `group_id`, or a raw body with `group_id` in the query.
struct PhotoUploadReader: Sendable {
  let folder: String

  /// The maximum size of boundaries, headers and other fields around a photo in form data.
  static let formOverheadBytesMax = 512 * 1024

  /// - Throws: 413 as soon as the body is too large, 400 when it is shorter than `Content-Length`, and a validation
  ///   failure that names a missing part.
  func upload(_ request: Request) async throws -> PhotoUpload {
    let type = request.headers[.contentType] ?? ""
    guard let reader = MultipartReader(contentType: type) else {
      guard !type.lowercased().hasPrefix("multipart/") else { throw Failure.formMalformed }
      let group = try Self.group(request.uri.queryParameters["group_id"].map(String.init))
      return try await rawBody(request).upload(to: group)
    }
    let form = try await form(request, reader, files: ["file"], fields: ["group_id"])
    return try form.writer.upload(to: Self.group(form.fields["group_id"]))
  }

  /// Reads form data with a file in the part of one of these names, and the fields of `fields`; others are ignored.
  func form(
    _ request: Request, _ reader: MultipartReader, files: Set<String>, fields: Set<String>
  ) async throws -> UploadForm {
    try Self.checkContentLength(of: request, bytesMax: UploadedFile.bytesMax + Self.formOverheadBytesMax)
    var form = try UploadForm(
      reader: reader, writer: UploadWriter(in: folder), fileNames: files, fieldNames: fields)
    try await form.read(request.body)
    return form
  }

  /// Reads a body that consists of the photo only.
  func rawBody(_ request: Request) async throws -> UploadWriter {
    try Self.checkContentLength(of: request, bytesMax: UploadedFile.bytesMax)
    var writer = try UploadWriter(in: folder)
    for try await buffer in request.body { try await writer.append(buffer) }
    try await writer.flush()
    let contentLength = request.headers[.contentLength].flatMap { Int($0) }
    guard contentLength == nil || contentLength == writer.file.byteCount else { throw Failure.uploadIncomplete }
    return writer
  }

  private static func checkContentLength(of request: Request, bytesMax: Int) throws(Failure) {
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > bytesMax { throw .photoTooLarge }
  }

  private static func group(_ text: String?) throws(Failure) -> GroupID {
    guard let text, !text.isEmpty else { throw .invalid(.init("group_id", "is required")) }
    guard let group = GroupID(text) else { throw .invalid(.init("group_id", "must be a UUID")) }
    return group
  }
}

extension UploadWriter {
  fileprivate func upload(to group: GroupID) throws(Failure) -> PhotoUpload {
    guard file.byteCount > 0 else { throw .invalid(.init("file", "is required")) }
    return PhotoUpload(
      file: file, group: group, fingerprint: digest + Data(group.description.utf8))
  }
}
