import Foundation
import Wire

/// A list as one of its people sees it.
struct List: Sendable, Hashable {
  let id: Int
  let owner: UserID
  var name: String
  var description: String?
  /// What the app calls it. Who sees a list is decided by its members alone.
  var visibility: String
  var color: String
  /// What the app calls its kind.
  var type: String?
  /// Whether tags have been put on it; they may have been deleted since.
  var hasTags = false
  /// Of whoever asks.
  let role: Role
  let taskCount: Int
  let completedCount: Int
  let subtaskCount: Int
  let memberCount: Int
  /// Counts every change of the list and of what is on it.
  let revision: Int
  /// The revision at which the list itself was last changed.
  let version: Int
  let createdAt: Date
  let updatedAt: Date
  /// How many bytes the texts of its tasks take in an answer.
  var textSize = 0

  static let ownedMax = 500
  static let joinedMax = 500
  static let membersMax = 100
  static let tasksMax = 5000
  /// Under all of its tasks together: they come with the list.
  static let subtasksMax = 10_000
  static let textSizeMax = 4 * 1024 * 1024
  static let tagsMax = 20
  static let visibilities = ["private", "shared", "public"]

  /// - Throws: 403 for everyone else.
  func requireOwner() throws(Failure) {
    guard role == .owner else { throw .ownerOnly }
  }
}

/// What a body says about a list: all of it when one is made, some of it when one is changed.
struct ListChange: Sendable {
  private let name: Given<String>
  private let description: Given<String>
  private let visibility: Given<String>
  private let color: Given<String>
  private let type: Given<String>
  /// The tags that it has from then on.
  let tags: [Int]?

  init(_ fields: inout Fields) {
    type = fields.text("list_type", 0...50)
    tags = fields.ids("tag_ids", most: List.tagsMax).value
    name = fields.text("name", 1...255)
    description = fields.text("description", 0...1000)
    visibility = fields.choice("visibility", List.visibilities)
    color = fields.text("color", 1...32)
  }

  /// The list with the change.
  func applied(to list: List) -> List {
    var list = list
    list.name = name.or(list.name) ?? list.name
    list.description = description.or(list.description)
    list.visibility = visibility.or(list.visibility) ?? list.visibility
    list.color = color.or(list.color) ?? list.color
    list.type = type.or(list.type)
    list.hasTags = tags.map { !$0.isEmpty } ?? list.hasTags
    return list
  }

  /// A new list of `owner`, not stored yet.
  func made(by owner: UserID, at now: Date) -> List {
    applied(
      to: List(
        id: 0, owner: owner, name: "", visibility: "private", color: "blue", role: .owner, taskCount: 0,
        completedCount: 0, subtaskCount: 0, memberCount: 0, revision: 1, version: 1, createdAt: now, updatedAt: now))
  }
}

extension Failure {
  /// The same for strangers: nobody can tell a list that is not theirs from one that is not there.
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
