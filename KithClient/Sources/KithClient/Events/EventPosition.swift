/// Where a subscription goes on: the number of the last event that was applied, per topic. Keep it with the state.
public struct EventPosition: Sendable, Equatable, Codable {
  struct Mark: Sendable, Equatable, Codable {
    var number: Int
    /// Names the log in which the number means something. nil: not known.
    var epoch: String?
  }

  var marks: [String: Mark] = [:]

  /// The beginning: from the next event on.
  public init() {}

  /// The number of the last event of a topic. nil before the first connection.
  public func number(of topic: String) -> Int? { marks[Self.name(of: topic)]?.number }

  /// Topics as the server writes them: ids are in lower case.
  static func name(of topic: String) -> String { topic.lowercased() }

  /// `Last-Event-ID` of a stream of these topics: a number, or for several topics `topic=number`, joined by commas.
  func lastEventID(of topics: [String]) -> String? {
    if topics.count == 1 { return topics.first.flatMap { marks[$0] }.map { String($0.number) } }
    let parts = topics.compactMap { topic in marks[topic].map { "\(topic)=\($0.number)" } }
    return parts.isEmpty ? nil : parts.joined(separator: ",")
  }

  /// Moves to an `id:` of a stream of these topics.
  mutating func move(to lastEventID: String, in topics: [String]) {
    if let topic = topics.first, topics.count == 1, let number = Int(lastEventID) { return move(to: number, in: topic) }
    for part in lastEventID.split(separator: ",") {
      guard let equals = part.lastIndex(of: "="), let number = Int(part[part.index(after: equals)...]) else { continue }
      move(to: number, in: String(part[..<equals]))
    }
  }

  /// Where a reader without a position begins. An epoch that is known stays.
  mutating func begin(_ topic: String, at number: Int?, _ epoch: String?) {
    if marks[topic] == nil, let number { move(to: number, in: topic) }
    if marks[topic]?.epoch == nil { marks[topic]?.epoch = epoch }
  }

  mutating func move(to number: Int, in topic: String) { marks[topic, default: Mark(number: 0)].number = number }
}
