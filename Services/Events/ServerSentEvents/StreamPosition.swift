import Wire

/// Where an event stream stands in each of its topics, as `id:` and `Last-Event-ID` have it: `topic=number` for each,
/// joined by commas, and after those whose numbers were given in the same epoch, `epoch=name`.
///
/// The topic is written also where it is the only one: clients of the version before read the numbers of topics, and
/// skip anything else.
struct StreamPosition: Sendable {
  let topics: [TopicName]
  /// Without a number a topic begins with the next event.
  private(set) var numbers: [String: Int]
  /// In which the numbers were given. Streams of the version before have sent numbers without it.
  private(set) var epochs: [String: String] = [:]

  private static let epochName = "epoch"

  /// - Throws: 400 when the text is not such a position.
  init(of topics: [TopicName], lastEventID text: String?) throws(Failure) {
    self.topics = topics
    numbers = [:]
    guard let text, !text.isEmpty else { return }
    if let number = Int(text) {
      // Zero is the beginning of every topic; another number cannot be that of several.
      guard number >= 0, number == 0 || topics.count == 1 else { throw Self.malformed }
      for topic in topics { numbers[topic.text] = number }
      return
    }
    var withoutEpoch: [String] = []
    for part in text.split(separator: ",") {
      guard let equals = part.lastIndex(of: "=") else { throw Self.malformed }
      let (name, value) = (part[..<equals], part[equals...].dropFirst())
      if name == Self.epochName, !value.isEmpty {
        for topic in withoutEpoch { epochs[topic] = String(value) }
        withoutEpoch = []
        continue
      }
      guard let topic = TopicName(name), let number = Int(value), number >= 0 else { throw Self.malformed }
      guard topics.contains(topic) else { continue }
      numbers[topic.text] = number
      withoutEpoch.append(topic.text)
    }
  }

  subscript(_ topic: String) -> Int { numbers[topic] ?? 0 }

  /// Moves within the epoch of the topic.
  mutating func move(to number: Int, in topic: String) { numbers[topic] = number }

  /// Goes on at this place.
  mutating func begin(at number: Int, in topic: String, _ epoch: String) {
    (numbers[topic], epochs[topic]) = (number, epoch)
  }

  /// Takes a number without an epoch for one of this epoch.
  mutating func assumeEpoch(_ epoch: String, of topic: String) { epochs[topic] = epochs[topic] ?? epoch }

  /// The value of `id:`.
  var text: String {
    var parts: [String] = []
    for (index, topic) in topics.enumerated() {
      parts.append("\(topic.text)=\(self[topic.text])")
      guard let epoch = epochs[topic.text] else { continue }
      let isShared = index + 1 < topics.count && epochs[topics[index + 1].text] == epoch
      if !isShared { parts.append("\(Self.epochName)=\(epoch)") }
    }
    return parts.joined(separator: ",")
  }

  private static let malformed = Failure(
    .malformed, "invalid_last_event_id", "Last-Event-ID is not one that this stream has sent.")
}
