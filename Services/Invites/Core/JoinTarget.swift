import Foundation
import Wire

/// The collection, group or list that an invite is for.
enum JoinTarget: Sendable, Hashable {
  case collection(CollectionID)
  case group(GroupID)
  case list(Int)

  var kind: Kind {
    switch self {
    case .collection: .collection
    case .group: .group
    case .list: .list
    }
  }

  /// The id as stored in the column `destination_id`, next to `kind`.
  var id: String {
    switch self {
    case .collection(let id): id.description
    case .group(let id): id.description
    case .list(let id): String(id)
    }
  }

  /// The kind of target, as stored in the column `kind` and as `leads_to` in exports.
  enum Kind: String, Sendable {
    case collection, group, list
  }

  /// nil when `id` is not an id of that kind.
  init?(_ kind: Kind, _ id: String) {
    let target: JoinTarget? =
      switch kind {
      case .collection: CollectionID(id).map { .collection($0) }
      case .group: GroupID(id).map { .group($0) }
      case .list: Int(id).map { .list($0) }
      }
    guard let target else { return nil }
    self = target
  }
}
