import Foundation
import Wire

/// A list, as seen by one of its members.
struct List: Sendable, Hashable {
  let id: Int
  let owner: UserID
  var name: String
  var description: String?
  /// A label of the app. Access is decided by membership alone.
  var visibility: String
  var color: String
  /// The app's name for the kind of list.
  var type: String?
  /// Whether tags have been set on it; they may have been deleted since.
  var hasTags = false
  /// The caller's role.
  let role: ListRole
  let taskCount: Int
  let completedCount: Int
  let subtaskCount: Int
  let memberCount: Int
  /// Incremented by every change of the list or its tasks.
  let revision: Int
  /// The revision at which the list itself was last changed.
  let version: Int
  let createdAt: Date
  let updatedAt: Date
  /// The size of the texts of its tasks in a response, in bytes.
  var textSize = 0

  static let ownedMax = 500
  static let joinedMax = 500
  static let membersMax = 100
  static let tasksMax = 5000
  /// Of all tasks together, because they are sent with the list.
  static let subtasksMax = 10_000
  static let textSizeMax = 4 * 1024 * 1024
  static let tagsMax = 20
  static let visibilities = ["private", "shared", "public"]

  /// - Throws: 403 for other roles.
  func requireOwner() throws(Failure) {
    guard role == .owner else { throw .ownerOnly }
  }
}

/// The fields of a request that creates a list or changes parts of one.
struct ListChange: Sendable {
  private let name: FieldValue<String>
  private let description: FieldValue<String>
  private let visibility: FieldValue<String>
  private let color: FieldValue<String>
  private let type: FieldValue<String>
  /// The complete new set of tags; nil leaves them.
  let tags: [Int]?

  init(_ fields: inout RequestFields) {
    type = fields.text("list_type", 0...50)
    tags = fields.ids("tag_ids", max: List.tagsMax).value
    name = fields.text("name", 1...255)
    description = fields.text("description", 0...1000)
    visibility = fields.choice("visibility", List.visibilities)
    color = fields.text("color", 1...32)
  }

  /// The list with the change.
  func applied(to list: List) -> List {
    var list = list
    list.name = name.applied(to: list.name) ?? list.name
    list.description = description.applied(to: list.description)
    list.visibility = visibility.applied(to: list.visibility) ?? list.visibility
    list.color = color.applied(to: list.color) ?? list.color
    list.type = type.applied(to: list.type)
    list.hasTags = tags.map { !$0.isEmpty } ?? list.hasTags
    return list
  }

  /// A new list of `owner`, not stored yet.
  func newList(ownedBy owner: UserID, at now: Date) -> List {
    applied(
      to: List(
        id: 0, owner: owner, name: "", visibility: "private", color: "blue", role: .owner, taskCount: 0,
        completedCount: 0, subtaskCount: 0, memberCount: 0, revision: 1, version: 1, createdAt: now, updatedAt: now))
  }
}

extension Failure {
  /// Also for non-members, who cannot tell someone else's list from one that does not exist.
  static let listNotFound = Failure(.notFound, "list_not_found", "There is no such list.")
  static let tooManyLists = Failure(
    .conflict, "too_many_lists", "You have as many lists as one person can have. Delete one first.")
  static let inTooManyLists = Failure(
    .conflict, "in_too_many_lists", "They are in as many lists as one person can be in.")
  static let clientIDTaken = Failure(.conflict, "client_id_taken", "Another task of this list has this client_id.")
  static let listFull = Failure(.conflict, "list_full", "This list is full. Delete something from it first.")
  static let changedMeanwhile = Failure(
    .preconditionFailed, "precondition_failed", "Somebody has changed it since you looked.")
}
