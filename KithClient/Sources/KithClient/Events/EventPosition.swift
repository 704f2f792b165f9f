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

  private static let epochName = "epoch"

  /// `Last-Event-ID` of a stream of these topics: `topic=number`, joined by commas, and `epoch=name` after the topics of
  /// which it is known. Servers of the version before have no epochs, and expect a number alone of a single topic.
  func lastEventID(of topics: [String]) -> String? {
    let found = topics.compactMap { topic in marks[topic].map { (topic: topic, mark: $0) } }
    if topics.count == 1, let mark = found.first?.mark, mark.epoch == nil { return String(mark.number) }
    // An epoch is that of all topics before it which have none yet.
    let ordered = found.filter { $0.mark.epoch != nil } + found.filter { $0.mark.epoch == nil }
    var parts: [String] = []
    for (index, (topic, mark)) in ordered.enumerated() {
      parts.append("\(topic)=\(mark.number)")
      let isShared = index + 1 < ordered.count && ordered[index + 1].mark.epoch == mark.epoch
      if let epoch = mark.epoch, !isShared { parts.append("\(Self.epochName)=\(epoch)") }
    }
    return parts.isEmpty ? nil : parts.joined(separator: ",")
  }

  /// Moves to an `id:` of a stream of these topics.
  mutating func move(to lastEventID: String, in topics: [String]) {
    if let topic = topics.first, topics.count == 1, let number = Int(lastEventID) { return move(to: number, in: topic) }
    var withoutEpoch: [String] = []
    for part in lastEventID.split(separator: ",") {
      guard let equals = part.lastIndex(of: "=") else { continue }
      let (name, value) = (String(part[..<equals]), part[equals...].dropFirst())
      if name == Self.epochName {
        for topic in withoutEpoch { marks[topic]?.epoch = String(value) }
        withoutEpoch = []
      } else if let number = Int(value) {
        move(to: number, in: name)
        withoutEpoch.append(name)
      }
    }
  }

  /// Where a reader without a position begins. An epoch that is known stays.
  mutating func begin(_ topic: String, at number: Int?, _ epoch: String?) {
    if marks[topic] == nil, let number { move(to: number, in: topic) }
    if marks[topic]?.epoch == nil { marks[topic]?.epoch = epoch }
  }

  mutating func move(to number: Int, in topic: String) { marks[topic, default: Mark(number: 0)].number = number }
}
