import Foundation

/// Sending and seeing photos.
public struct Photos: Sendable {
  /// What is sent: a JPEG, PNG or HEIC as the camera gives it, at most 10 MB. The server converts it, and removes the
  /// location and everything else that is not the picture.
  public enum Content: Sendable {
    case data(Data)
    case file(URL)
  }

  private static let bytesMax = 10 * 1024 * 1024
  let api: API

  /// Sends the photo of the day. An upload whose answer was lost is repeated, and counts once.
  ///
  /// - Parameters:
  ///   - idempotencyKey: give your own, and keep it, to repeat the upload after a restart of the app.
  ///   - progress: is called with the share that was sent, 0 to 1.
  /// - Throws: ``KithFailure``, with the code `already_sent_today` for the second one of a day.
  public func send(
    _ content: Content, to group: SharedGroup.ID, idempotencyKey: String = UUID().uuidString.lowercased(),
    progress: (@Sendable (Double) -> Void)? = nil
  ) async throws -> SentPhoto {
    let (body, byteCount) = try Self.body(content)
    let call = try Call.post("/api/photos/upload").with {
      $0.query = [("group_id", group)]
      $0.body = body
      $0.headers["Content-Type"] = "application/octet-stream"
      $0.idempotencyKey = idempotencyKey
      $0.timeoutSeconds = 120
    }
    var sent: (@Sendable (Int64) -> Void)?
    if let progress { sent = { count in progress(min(1, Double(count) / Double(max(1, byteCount)))) } }
    let response = try await api.send(call, progress: sent)
    return try WireCoding.decode(from: response.body)
  }

  /// The photos of the group's present day that are still there.
  public func today(in group: SharedGroup.ID) async throws -> [Photo] {
    try await api.value(.get("/api/photos/\(group)/today"), as: PhotosAnswer.self).photos
  }

  /// The photo with new links.
  public func photo(_ id: Photo.ID) async throws -> Photo { try await api.value(.get("/api/photos/\(id)")) }

  /// The JPEG. A link that has ended is renewed once.
  public func data(of photo: Photo, thumbnail: Bool = false) async throws -> Data {
    func link(_ photo: Photo) -> URL { thumbnail ? photo.thumbnailURL ?? photo.url : photo.url }
    let first = try await download(link(photo))
    if first.status == 200 { return first.body }
    let second = try await download(link(try await self.photo(photo.id)))
    guard second.status == 200 else { throw KithFailure.refused(Refusal(second)) }
    return second.body
  }

  /// Takes back one's own photo. Another one can be sent on the same day.
  public func delete(_ id: Photo.ID) async throws { _ = try await api.send(.delete("/api/photos/\(id)")) }

  /// The signature in the link is the permission: it is sent without a bearer, as the link may be on another host.
  private func download(_ link: URL) async throws -> HTTPResponse {
    try await api.exchanger.send(HTTPRequest("GET", link), isRepeatable: true)
  }

  /// - Throws: ``KithFailure/invalid(_:)`` for a file that cannot be read, and for more than 10 MB.
  static func body(_ content: Content) throws -> (HTTPRequest.Body, Int) {
    let (body, byteCount): (HTTPRequest.Body, Int)
    switch content {
    case .data(let data): (body, byteCount) = (.data(data), data.count)
    case .file(let file):
      // `try?`: whatever the reason, the file cannot be sent.
      guard let count = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
        throw KithFailure.invalid("The file cannot be read.")
      }
      (body, byteCount) = (.file(file), count)
    }
    guard byteCount <= Self.bytesMax else { throw KithFailure.invalid("A photo has at most 10 MB.") }
    return (body, byteCount)
  }
}
