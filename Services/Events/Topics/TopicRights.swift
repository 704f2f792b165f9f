import Clients
import Foundation
import Web
import Wire

/// Who may read a topic: asked of the service that owns the thing, or decided here for the topics of one user.
struct TopicRights: Sendable {
  let client: TopicAccessClient
  /// The services that own topics, as far as they are deployed.
  let owners: [ServiceName]

  static let owningServices: [ServiceName] = [.lists, .groups, .adventures]

  /// - Throws: ``Wire/Failure/unavailable`` when the owner does not answer.
  func mayRead(_ topic: TopicName, _ user: UserID) async throws -> Bool {
    switch topic.owner {
    case .user(let owner): owner == user
    case .service(let service) where owners.contains(service):
      try await client.access(of: user, to: topic.text, at: service).read
    case .service: false
    }
  }

  /// All topics that the user may read.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when an owner does not answer: a part of them would be mistaken for all.
  func readable(by user: UserID) async throws -> Set<String> {
    var topics = Set(TopicName.own(user))
    for owner in owners { topics.formUnion(try await client.readableTopics(of: user, at: owner)) }
    return topics
  }

  /// Those who may read a topic, as far as its owner knows them: who sees a hunt is known of one user at a time.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when the owner does not answer.
  func readers(of topic: TopicName) async throws -> [UserID] {
    switch topic.owner {
    case .user(let owner): [owner]
    case .service(let service) where owners.contains(service) && service != .adventures:
      try await client.readers(of: topic.text, at: service)
    case .service: []
    }
  }

  /// Ends what is cached about rights that have changed.
  func apply(_ changes: [AccessChange]) {
    for change in changes { client.endCache(of: change) }
  }
}
