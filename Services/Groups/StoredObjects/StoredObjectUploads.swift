import Foundation
import Hummingbird
import Photos
import Wire

/// Receives, renders and stores the files of `/storage/v1`, with the same limits as photos of groups. Nothing of an
/// upload but its pixels is stored.
struct StoredObjectUploads: Sendable {
  let store: StoredObjectStore
  let discarded: DiscardedFileStore
  let files: any PhotoFiles
  let renderer: PhotoRenderer
  let reader: PhotoUploadReader
  let now: @Sendable () -> Date

  /// Stores the body of a request: the file itself, or form data with the file in a part that is called `file`, or
  /// nothing, as Supabase's client for Swift sends it.
  ///
  /// - Parameter replaces: whether the name may be taken.
  /// - Throws: 409 when it is taken and may not; 403 when the user has too many files; 400, 413, 415 and 422 as for
  ///   photos.
  func receive(_ request: Request, as name: StoredObjectName, replaces: Bool) async throws -> StoredObject {
    let (upload, cacheControl) = try await body(of: request)
    try await store.checkMayPut(name, replaces: replaces)
    let renditions = try await renderer.renditions(of: upload)
    let new = NewStoredObject(
      name: name, file: .new(at: now()), byteCount: renditions.large.count,
      bytesInAll: renditions.large.count + renditions.small.count, cacheSeconds: Self.seconds(in: cacheControl))
    try await discarded.addPending(new.file, at: now())
    do {
      try await files.store(renditions, of: new.file.uuid)
      return try await store.put(new, replaces: replaces, at: now())
    } catch let failure as Failure {
      // `try?`: the sweep deletes it later otherwise.
      try? await discarded.giveUp(new.file, at: now())
      throw failure
    }
  }

  private func body(of request: Request) async throws -> (UploadedFile, cacheControl: String?) {
    let type = request.headers[.contentType] ?? ""
    guard let form = MultipartReader(contentType: type) else {
      guard !type.lowercased().hasPrefix("multipart/") else { throw Failure.formMalformed }
      return (try Self.nonempty(try await reader.rawBody(request).file), request.headers[.cacheControl])
    }
    let read = try await reader.form(request, form, files: ["", "file"], fields: ["cacheControl"])
    return (try Self.nonempty(read.writer.file), read.fields["cacheControl"] ?? request.headers[.cacheControl])
  }

  private static func nonempty(_ file: UploadedFile) throws(Failure) -> UploadedFile {
    guard file.byteCount > 0 else { throw .invalid(.init("file", "is required")) }
    return file
  }

  /// Seconds, as clients send them, or the `max-age` of a header.
  static func seconds(in cacheControl: String?) -> Int {
    let text = cacheControl ?? ""
    let seconds = Int(text) ?? text.firstMatch(of: /max-age=([0-9]{1,9})/).flatMap { Int($0.1) }
    return min(max(0, seconds ?? StoredObject.defaultCacheSeconds), StoredObject.cacheSecondsMax)
  }
}
