import Foundation
import Wire

/// Who could be notified, and who sees everything already.
struct PushAudience: Sendable {
  let rights: TopicRights
  /// What is open in this process.
  let live: LiveTopics
  /// What is open on other replicas; nil where there are none.
  let openTopics: OpenTopics?

  /// Those who may read a topic; nobody for nil.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when the topic's owner does not answer.
  func readers(of topic: String?) async throws -> [UserID] {
    guard let topic = topic.flatMap({ TopicName($0) }) else { return [] }
    return try await rights.readers(of: topic)
  }

  /// Those of the users who have none of the topics open, in the same order.
  func away(from topics: [String], among users: [UserID]) async throws -> [UserID] {
    let here = live.openers(of: topics, among: users)
    let away = users.filter { !here.contains($0) }
    guard let openTopics, !away.isEmpty else { return away }
    let elsewhere = try await openTopics.openersElsewhere(of: topics, among: away)
    return away.filter { !elsewhere.contains($0) }
  }
}
