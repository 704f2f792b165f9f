import Foundation
import Hummingbird
import Web
import Wire

/// Who asks: a signed-in user, somebody unknown, or in a deployment without sign-in everybody.
struct Viewer: Sendable {
  /// nil for an anonymous reader.
  let user: UserID?
  /// Whether `AUTH_ENABLED` is false: everything belongs to everybody, and nothing costs credits.
  let isOpen: Bool

  /// The owner of everything while `AUTH_ENABLED` is false.
  static let everybody = UserID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))

  func owns(_ timepoint: Timepoint) -> Bool { isOpen || timepoint.owner == user }

  /// - Throws: 404 for a deleted one, 403 for a private one of another user.
  func requireVisible(_ timepoint: Timepoint) throws(Failure) {
    guard timepoint.deletedAt == nil else { throw .timepointNotFound }
    guard timepoint.visibility == .public || owns(timepoint) else { throw .timepointPrivate }
  }

  /// - Throws: 404 for a deleted one, 403 to others than the owner.
  func requireOwner(of timepoint: Timepoint) throws(Failure) {
    try requireVisible(timepoint)
    guard owns(timepoint) else { throw .notOwner }
  }
}

/// Tells who asks, by `AUTH_ENABLED`.
struct Access: Sendable {
  let isOpen: Bool

  /// - Throws: ``StartFailure`` when sign-in is disabled outside of development.
  init(_ settings: Settings) throws {
    isOpen = try !settings.bool("AUTH_ENABLED", default: true)
    if isOpen, try settings.stage() != .development {
      throw StartFailure("AUTH_ENABLED=false is for development only")
    }
  }

  /// - Throws: 401 for a token that is not valid.
  func viewer(_ context: Context) throws(Failure) -> Viewer {
    guard !isOpen else { return Viewer(user: Viewer.everybody, isOpen: true) }
    switch context.caller {
    case .user(let user, _): return Viewer(user: user, isOpen: false)
    case .anonymous: return Viewer(user: nil, isOpen: false)
    case .rejected(let failure): throw failure
    }
  }

  /// The user who acts.
  ///
  /// - Throws: 401 without a valid token.
  func user(_ context: Context) throws(Failure) -> (viewer: Viewer, id: UserID) {
    let viewer = try viewer(context)
    guard let id = viewer.user else { throw .unauthorized }
    return (viewer, id)
  }
}

extension Context {
  /// The timepoint whose id is the path parameter.
  ///
  /// - Throws: 404 when it is no UUID.
  func timepointID(_ parameter: String = "id") throws(Failure) -> TimepointID {
    guard let id = parameters.get(parameter).flatMap({ TimepointID($0) }) else { throw .timepointNotFound }
    return id
  }
}

/// - Throws: 503 that names the missing variable, before anything is charged.
func requireConfigured(_ providers: ProvidersStatus) throws {
  do { try providers.requireConfigured() } catch let failure as PipelineFailure { throw failure.failure }
}
