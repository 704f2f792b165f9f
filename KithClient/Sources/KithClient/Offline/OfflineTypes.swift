import Foundation

/// A list or a task that may not be on the server yet. The id of what was made on this device stays the same when it
/// is sent, so that a view does not lose its place.
public enum OfflineID: Sendable, Hashable, Codable {
  case server(Int)
  case local(String)

  static func new() -> OfflineID { .local(UUID().uuidString.lowercased()) }
}

/// A list as the user sees it: as on the server, with the changes that wait.
public struct OfflineList: Sendable, Equatable, Identifiable {
  public let id: OfflineID
  public var name: String
  /// Whether a change of it waits to be sent.
  public var isPending = false
}

/// A task as the user sees it.
public struct OfflineTask: Sendable, Equatable, Identifiable {
  public let id: OfflineID
  public let listID: OfflineID
  public var title: String
  public var note: String?
  public var dueAt: Date?
  public var priority: Int
  public var starred: Bool
  public var isDone: Bool
  /// Whether a change of it waits to be sent.
  public var isPending = false
}

/// A change that could not be applied as the user made it.
public struct OfflineConflict: Sendable, Equatable, Codable {
  /// Why the change was not applied, or not all of it.
  public enum Reason: Sendable, Equatable, Codable {
    /// Somebody else changed the same fields first. Theirs stay; the others of the change were applied.
    case changedByOthers(fields: [String])
    /// It was deleted.
    case gone
    /// The server refused it, for example because the user may only read the list by now.
    case refused(code: String)
  }

  public let reason: Reason
  /// The title or name, for a message to the user.
  public let title: String
}

/// What a synchronisation has done.
public struct SyncReport: Sendable, Equatable {
  /// Of changes.
  public var sentCount = 0
  public var conflicts: [OfflineConflict] = []
}
