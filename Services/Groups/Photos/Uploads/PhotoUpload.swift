import Crypto
import Foundation
import Hummingbird
import NIOCore
import Wire

/// A photo for a group, as it was sent.
struct PhotoUpload: Sendable {
  let file: UploadedFile
  let group: GroupID
  /// What makes it the same upload when it comes again.
  let content: Data
}

/// Receives uploads: as form data with `file` and `group_id`, or as a bare body with `group_id` in the query.
struct PhotoReceiver: Sendable {
  let folder: String

  /// What form data puts around a photo.
  static let wrappingBytesMax = 512 * 1024

  /// - Throws: 413 as soon as too much has come, 400 when less has come than was announced, and the validation failure
  ///   that names a missing part.
  func upload(_ request: Request) async throws -> PhotoUpload {
    let type = request.headers[.contentType] ?? ""
    guard let reader = MultipartReader(contentType: type) else {
      guard !type.lowercased().hasPrefix("multipart/") else { throw Failure.formMalformed }
      let group = try Self.group(request.uri.queryParameters["group_id"].map(String.init))
      return try await bare(request).upload(to: group)
    }
    try Self.checkAnnouncement(of: request, bytesMax: UploadedFile.bytesMax + Self.wrappingBytesMax)
    var form = try Form(reader: reader, receiving: Receiving(in: folder))
    try await form.read(request.body)
    return try form.receiving.upload(to: Self.group(form.group))
  }

  /// A body that is the photo and nothing else.
  func bare(_ request: Request) async throws -> Receiving {
    try Self.checkAnnouncement(of: request, bytesMax: UploadedFile.bytesMax)
    var receiving = try Receiving(in: folder)
    for try await buffer in request.body { try await receiving.append(buffer) }
    try await receiving.finish()
    let announced = request.headers[.contentLength].flatMap { Int($0) }
    guard announced == nil || announced == receiving.file.byteCount else { throw Failure.uploadIncomplete }
    return receiving
  }

  private static func checkAnnouncement(of request: Request, bytesMax: Int) throws(Failure) {
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > bytesMax { throw .photoTooLarge }
  }

  private static func group(_ text: String?) throws(Failure) -> GroupID {
    guard let text, !text.isEmpty else { throw .invalid(.init("group_id", "is required")) }
    guard let group = GroupID(text) else { throw .invalid(.init("group_id", "must be a UUID")) }
    return group
  }
}

/// A file on its way to disk, in pieces large enough to be worth a write.
struct Receiving {
  let file: UploadedFile
  private var pending = ByteBuffer()
  private var hash = SHA256()
  private static let pieceLength = 256 * 1024

  init(in folder: String) throws { file = try UploadedFile(in: folder) }

  mutating func append(_ buffer: ByteBuffer) async throws {
    buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    pending.writeImmutableBuffer(buffer)
    if pending.readableBytes >= Self.pieceLength { try await finish() }
    // What is still to be written counts as well.
    guard file.byteCount + pending.readableBytes <= UploadedFile.bytesMax else { throw Failure.photoTooLarge }
  }

  mutating func finish() async throws {
    try await file.append(pending)
    pending.clear()
  }

  func upload(to group: GroupID) throws(Failure) -> PhotoUpload {
    guard file.byteCount > 0 else { throw .invalid(.init("file", "is required")) }
    return PhotoUpload(
      file: file, group: group, content: Data(hash.finalize()) + Data(group.description.utf8))
  }
}

/// The two fields of an upload's form, while they arrive; what else is in it is passed over.
private struct Form {
  private(set) var receiving: Receiving
  private(set) var group: String?
  private var reader: MultipartReader
  private var part = ""
  private var byteCount = 0
  private var hasFile = false
  private var isComplete = false

  init(reader: MultipartReader, receiving: Receiving) {
    self.reader = reader
    self.receiving = receiving
  }

  mutating func read(_ body: RequestBody) async throws {
    for try await buffer in body {
      byteCount += buffer.readableBytes
      guard byteCount <= UploadedFile.bytesMax + PhotoReceiver.wrappingBytesMax else { throw Failure.photoTooLarge }
      reader.append(buffer)
      while let event = try reader.next() { try await take(event) }
    }
    guard isComplete else { throw Failure.uploadIncomplete }
    try await receiving.finish()
  }

  private mutating func take(_ event: MultipartReader.Event) async throws {
    switch event {
    case .partBegan("file") where hasFile: throw Failure.invalid(.init("file", "must come once"))
    case .partBegan(let name):
      part = name
      if name == "file" { hasFile = true }
      if name == "group_id" { group = "" }
    case .partBytes(let bytes) where part == "file": try await receiving.append(bytes)
    case .partBytes(let bytes) where part == "group_id":
      group = (group ?? "") + String(buffer: bytes)
      guard (group ?? "").utf8.count <= 100 else { throw Failure.invalid(.init("group_id", "must be a UUID")) }
    case .partBytes, .partEnded: break
    case .ended: isComplete = true
    }
  }
}
