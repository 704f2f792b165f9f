import Foundation

/// Making scenes for credits, seeing them, and talking with the people in them.
public struct Timepoints: Sendable {
  /// Making a scene takes up to two minutes.
  static let workSeconds = 170.0
  let api: API

  /// - Parameters:
  ///   - full: with the people, the scene and the dialog.
  ///   - includingImage: with the JPEG, which is large: to be exported, or seen without a network.
  /// - Throws: ``KithFailure``, such as `timepoint_private` or `timepoint_not_found`.
  public func timepoint(_ id: Timepoint.ID, full: Bool = false, includingImage: Bool = false) async throws -> Timepoint
  {
    try await api.value(read("/api/v1/timepoints/\(id)", Self.query(full: full, includingImage: includingImage)))
  }

  /// The scene of a link.
  ///
  /// - Throws: as ``timepoint(_:full:includingImage:)``.
  public func timepoint(slug: String, full: Bool = false, includingImage: Bool = false) async throws -> Timepoint {
    try await api.value(read("/api/v1/timepoints/slug/\(slug)", Self.query(full: full, includingImage: includingImage)))
  }

  /// Completed public ones, and one's own; the newest first.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - pageSize: 1 to 100.
  ///   - status: `pending`, `processing`, `completed` or `failed`.
  ///   - visibility: `private`: one's own only.
  public func all(
    page: Int = 1, pageSize: Int = 20, status: String? = nil, visibility: Timepoint.Visibility? = nil
  ) async throws -> TimepointPage<Timepoint> {
    let query = [
      "page": String(page), "page_size": String(pageSize), "status": status, "visibility": visibility?.rawValue,
    ]
    return try await api.value(read("/api/v1/timepoints", query))
  }

  /// One's own, the newest first.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - pageSize: 1 to 100.
  ///   - status: as for ``all(page:pageSize:status:visibility:)``. One that does not exist is ignored.
  public func mine(
    page: Int = 1, pageSize: Int = 20, status: String? = nil
  ) async throws -> TimepointPage<TimepointSummary> {
    let query = ["page": String(page), "page_size": String(pageSize), "status": status]
    return try await api.value(.get("/api/v1/users/me/timepoints", query))
  }

  /// The people in a scene; none before it is made.
  ///
  /// - Throws: as ``timepoint(_:full:includingImage:)``.
  public func characters(of id: Timepoint.ID) async throws -> TimepointCharacters {
    try await api.value(read("/api/v1/timepoints/\(id)/characters"))
  }

  /// The JPEG. One that was read before is asked for with its `ETag`, and sent again only when it is another one.
  ///
  /// - Parameter pixelsMax: of the longer side: up to 320 a small one, else one of at most 1080.
  /// - Throws: ``KithFailure``, such as `image_not_found`.
  public func image(of id: Timepoint.ID, pixelsMax: Int = 1080) async throws -> Data {
    try await api.send(imageCall(id, pixelsMax).with { $0.cache = .images }).body
  }

  /// A part of the JPEG, for example to go on with one that was not read to its end.
  ///
  /// - Parameters:
  ///   - bytes: the first and the last one, from 0. The server cuts off what is behind the end.
  ///   - pixelsMax: as for ``image(of:pixelsMax:)``.
  /// - Throws: ``KithFailure``, such as `range_not_satisfiable` for a range behind the end.
  public func image(
    of id: Timepoint.ID, bytes: ClosedRange<Int>, pixelsMax: Int = 1080
  ) async throws -> TimepointImagePart {
    let call = imageCall(id, pixelsMax)
      .with { $0.headers["Range"] = "bytes=\(bytes.lowerBound)-\(bytes.upperBound)" }
    let response = try await api.send(call)
    guard response.status == 206 else {
      return TimepointImagePart(data: response.body, totalByteCount: response.body.count)
    }
    guard let total = response.head["Content-Range"]?.split(separator: "/").last.flatMap({ Int($0) }) else {
      throw KithFailure.undecodable("the part of the image does not say of what")
    }
    return TimepointImagePart(data: response.body, totalByteCount: total)
  }

  /// Only its owner may. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `not_the_owner`.
  public func setVisibility(of id: Timepoint.ID, to visibility: Timepoint.Visibility) async throws -> Timepoint {
    try await api.value(try .patch("/api/v1/timepoints/\(id)/visibility", ["visibility": visibility]))
  }

  /// Everything of a scene, whose folder the server writes where it has folders. Only its owner may. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `not_the_owner`.
  public func export(_ id: Timepoint.ID) async throws -> Timepoint {
    try await api.value(try .post("/api/v1/timepoints/\(id)/export"))
  }

  /// Only its owner may. Safe to repeat.
  ///
  /// - Parameter isPermanent: deletes its image and all conversations as well. One that is still being made is called
  ///   off, and its credits come back.
  /// - Throws: ``KithFailure``, such as `not_the_owner`.
  public func delete(_ id: Timepoint.ID, isPermanent: Bool = false) async throws {
    _ = try await api.send(.delete("/api/v1/timepoints/\(id)", ["permanent": isPermanent ? "true" : nil]))
  }

  /// A call that shows more to who is signed in.
  func read(_ path: Path, _ query: [String: String?] = [:]) -> Call {
    Call.get(path, query).with { $0.bearer = .ifSignedIn }
  }

  private func imageCall(_ id: Timepoint.ID, _ pixelsMax: Int) -> Call {
    read("/api/v1/timepoints/\(id)/image", ["size": String(pixelsMax)]).with { $0.headers["Accept"] = "image/jpeg" }
  }

  private static func query(full: Bool, includingImage: Bool) -> [String: String?] {
    ["full": String(full), "include_image": includingImage ? "true" : nil]
  }
}
