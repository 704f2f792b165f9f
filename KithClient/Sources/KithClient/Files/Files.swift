import Foundation

/// Photos that have a name, such as avatars and what is found on a hunt. They stay until they are deleted.
public struct Files: Sendable {
  let api: API

  /// Stores a photo under the user's name: a JPEG, PNG or HEIC of at most 10 MB, which the server converts to a JPEG
  /// without the location and everything else that is not the picture. Safe to repeat when it is replacing; else
  /// it is sent once, as the name may be taken by the first attempt.
  ///
  /// - Parameters:
  ///   - name: one to three names, such as `hunts/door.jpg`.
  ///   - replacing: whether one of this name is replaced. Without it, that is refused.
  ///   - progress: is called with the share that was sent, 0 to 1.
  /// - Returns: the whole name.
  /// - Throws: ``KithFailure/invalid(_:)`` for more than 10 MB and for a file that cannot be read,
  ///   ``KithFailure/signedOut``, and the failures of a call, such as `Duplicate` for a name that is taken.
  public func upload(
    _ content: Photos.Content, as name: String, in bucket: FileName.Bucket, replacing: Bool = false,
    progress: (@Sendable (Double) -> Void)? = nil
  ) async throws -> FileName {
    // Says whose session it is.
    _ = try await api.sessions.bearer()
    guard let user = await api.sessions.userID else { throw KithFailure.signedOut }
    let file = FileName("\(user)/\(name)", in: bucket)
    let (body, byteCount) = try Photos.body(content)
    var call = try replacing ? Call.put(Self.path("", file)) : Call.post(Self.path("", file))
    call.body = body
    call.headers["Content-Type"] = "application/octet-stream"
    call.timeoutSeconds = 120
    call.isRepeatable = replacing
    call.cache = .images
    var sent: (@Sendable (Int64) -> Void)?
    if let progress { sent = { count in progress(min(1, Double(count) / Double(max(1, byteCount)))) } }
    _ = try await api.send(call, progress: sent)
    return file
  }

  /// The JPEG, for its owner, of the bucket `avatars`, and for who sees a submission that names it.
  ///
  /// - Parameter isSmall: at most 320 pixels, else 1080.
  /// - Throws: ``KithFailure``, such as `not_found`.
  public func data(of file: FileName, isSmall: Bool = false) async throws -> Data {
    let call = Call.get(Self.path("", file), ["size": isSmall ? "320" : nil], cache: .images)
    return try await api.send(call.with { $0.headers["Accept"] = "image/jpeg" }).body
  }

  /// What is known of a file.
  ///
  /// - Throws: ``KithFailure``, such as `not_found`.
  public func info(of file: FileName) async throws -> StoredFileInfo {
    try await api.value(.get(Self.path("info/", file)))
  }

  /// A link to a file that needs no bearer, for example for a view that loads images.
  ///
  /// - Throws: ``KithFailure``, such as `not_found`.
  public func link(to file: FileName, expiresIn: Duration = .seconds(3600)) async throws -> URL {
    let call = try Call.post(Self.path("sign/", file))
      .with(json: ["expiresIn": Int(expiresIn.seconds)])
    return try absolute(try await api.value(call, as: SignedURLAnswer.self).signedURL)
  }

  /// Links to several files. Those that the user may not see are left out.
  public func links(
    to paths: [String], in bucket: FileName.Bucket, expiresIn: Duration = .seconds(3600)
  ) async throws -> [String: URL] {
    struct Body: Encodable {
      let expiresIn: Int
      let paths: [String]
    }
    let call = try Call.post("/storage/v1/object/sign/\(bucket.rawValue)")
      .with(json: Body(expiresIn: Int(expiresIn.seconds), paths: paths))
    var links: [String: URL] = [:]
    for link in try await api.value(call, as: [SignedPath].self) {
      links[link.path] = try link.signedURL.map(absolute)
    }
    return links
  }

  /// The address of a file for those who may see it, as a submission of a hunt names it.
  public func url(of file: FileName) throws -> URL {
    try Call.get(Self.path("", file)).request(to: api.baseURL).url
  }

  /// The address of a file of the bucket `avatars`, which everybody can read.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for a file of another bucket.
  public func publicURL(of file: FileName) throws -> URL {
    guard file.bucket == .avatars else { throw KithFailure.invalid("Only avatars are public.") }
    return try Call.get(Self.path("public/", file)).request(to: api.baseURL).url
  }

  /// One's own files and folders in a folder, by name.
  ///
  /// - Parameters:
  ///   - folder: from the user's id on. nil: that of the user.
  ///   - limit: 1 to 1,000.
  public func list(
    _ folder: String? = nil, in bucket: FileName.Bucket, atMost limit: Int = 100, skipping offset: Int = 0
  ) async throws -> [StoredFile] {
    struct Body: Encodable {
      let prefix: String
      let limit: Int
      let offset: Int
    }
    // Says whose session it is.
    _ = try await api.sessions.bearer()
    let user = await api.sessions.userID
    guard let folder = folder ?? user else { throw KithFailure.signedOut }
    let body = Body(prefix: folder, limit: limit, offset: offset)
    return try await api.value(try .post("/storage/v1/object/list/\(bucket.rawValue)", body))
  }

  /// Deletes one's own files. Others, and those that there are not, stay as they are. Safe to repeat.
  public func delete(_ paths: [String], in bucket: FileName.Bucket) async throws {
    var call = try Call.delete("/storage/v1/object/\(bucket.rawValue)").with(json: ["prefixes": paths])
    call.cache = .images
    _ = try await api.send(call)
  }

  private static func path(_ kind: String, _ file: FileName) -> Path {
    let segments = "storage/v1/object/\(kind)\(file.bucket.rawValue)/\(file.path)"
    return Path(segments: segments.split(separator: "/"))
  }

  /// Links are relative to `/storage/v1`.
  private func absolute(_ link: String) throws -> URL {
    if link.hasPrefix("http"), let url = URL(string: link) { return url }
    let base = try Call.get("/storage/v1").request(to: api.baseURL).url.absoluteString
    guard let url = URL(string: base + link) else { throw KithFailure.undecodable("\(link) is no link") }
    return url
  }
}
