import Hummingbird
import Wire

extension RequestContext {
  /// The id in the path parameter `name`.
  ///
  /// - Throws: `failure` when the parameter is not an id, since no resource can have that name.
  func id<Subject>(_ name: String, prefix: IDPrefix? = nil, else failure: Failure) throws -> ID<Subject> {
    let id = parameters.get(name).flatMap { text in
      prefix.map { ID<Subject>(text, prefix: $0) } ?? ID<Subject>(text)
    }
    guard let id else { throw failure }
    return id
  }

  func groupID(else failure: Failure = .groupNotFound) throws -> GroupID { try id("group", else: failure) }

  func collectionID() throws -> CollectionID { try id("collection", prefix: .collection, else: .collectionNotFound) }
}
