import Foundation

/// A part of an image.
public struct TimepointImagePart: Sendable, Equatable {
  public let data: Data
  /// Of the whole image.
  public let totalByteCount: Int
}
