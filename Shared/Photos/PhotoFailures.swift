import Wire

/// Why a photo is not accepted, or cannot be stored.
extension Failure {
  package static let photoTooLarge = Failure(.tooLarge, "photo_too_large", "A photo has at most 10 MB.")
  package static let uploadIncomplete = Failure(.malformed, "upload_incomplete", "The upload ended too early.")
  package static let photoTypeUnsupported = Failure(
    .unsupportedType, "unsupported_media_type", "Send a photo as JPEG, PNG or HEIC.")
  package static let photoUnreadable = Failure(.unprocessable, "photo_unreadable", "This photo cannot be read.")
  package static let photoTooManyPixels = Failure(
    .unprocessable, "photo_too_many_pixels", "A photo has at most 50 megapixels.")
  package static let photoTooSlow = Failure(.unprocessable, "photo_too_complex", "This photo takes too long to read.")
  package static let photosBusy = Failure(
    .unavailable, "photos_busy", "Too many photos are arriving at the moment.", retryAfterSeconds: 2)
  package static let storageFull = Failure(
    .unavailable, "storage_full", "Photos cannot be kept at the moment.", retryAfterSeconds: 60)
}
