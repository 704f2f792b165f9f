import Wire

/// The names of topics.
package enum EventTopic {
  package static func list(_ id: Int) -> String { "lists:\(id)" }
  package static func group(_ id: GroupID) -> String { "social_groups:\(id)" }
  package static func collection(_ id: CollectionID) -> String { "collections:\(id)" }

  /// A user's own topic, which nobody else may read.
  package static func user(_ id: UserID) -> String { "users:\(id)" }
}
