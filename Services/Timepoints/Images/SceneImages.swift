import Foundation
import HTTPTypes
import Hummingbird
import NIOFoundationCompat
import Photos
import Web
import Wire

/// The pictures of timepoints, as JPEG in the storage of photos. They never change, and have the timepoint's id.
struct SceneImages: Sendable {
  private let files: any PhotoFiles
  private let renderer: PhotoRenderer

  /// - Parameter library: what renders the pictures.
  init(_ storage: PhotoStorage, library: VipsLibrary) {
    files = storage.files
    renderer = PhotoRenderer(library: library)
  }

  /// The picture of a rehearsal: a landscape that is drawn from its texts.
  @Sendable func draw(_ seed: UInt64, _ texts: [String]) async throws -> Data {
    let landscape = Landscape(of: "\(seed) \(texts.joined(separator: " "))")
    return Data(try await renderer.renditions(of: landscape).large)
  }

  /// Renders and stores a provider's picture. Safe to repeat.
  ///
  /// - Throws: 415 and 422 for bytes that are no picture.
  func store(_ image: GeneratedImage, of timepoint: TimepointID) async throws {
    let renditions = try await renderer.renditions(of: Array(image.bytes))
    try await files.store(renditions, of: timepoint.uuid)
  }

  func byteCount(of timepoint: TimepointID) async throws -> Int? {
    try await files.read(PhotoFileName(timepoint.uuid, size: .large), .from(0, through: 0))?.totalCount
  }

  func bytes(of timepoint: TimepointID) async throws -> Data? {
    guard let stored = try await files.read(PhotoFileName(timepoint.uuid, size: .large), nil) else { return nil }
    switch stored.content {
    case .buffer(let buffer): return Data(buffer: buffer)
    case .chunks(let forEachChunk):
      var data = Data(capacity: stored.totalCount)
      try await forEachChunk { data.append(Data(buffer: $0)) }
      return data
    }
  }

  /// The picture, or a range of it: 200, 206, 304 or 416.
  ///
  /// - Throws: 404 when there is none.
  func response(_ timepoint: Timepoint, _ size: PhotoSize, to request: Request) async throws -> Response {
    let isPublic = timepoint.visibility == .public
    let headers: HTTPFields = [
      // A year for what everybody may see; else the right to see it is asked for each time.
      .cacheControl: isPublic ? "public, max-age=31536000, immutable" : "private, no-cache",
      .contentDisposition: "inline",
    ]
    let name = PhotoFileName(timepoint.id.uuid, size: size)
    let found = try await files.response(name, eTag: "\"\(name.text)\"", headers, to: request)
    guard let found else { throw Failure.imageNotFound }
    return found
  }

  /// Safe to repeat.
  func delete(_ timepoints: [TimepointID]) async throws { try await files.delete(timepoints.map(\.uuid)) }
}

extension Failure {
  static let imageNotFound = Failure(.notFound, "image_not_found", "This timepoint has no picture.")
}
