import Wire

/// Where an event stream stands in each of its topics, as `id:` and `Last-Event-ID` have it: a number, or for several
/// topics `topic=number`, joined by commas.
struct StreamPosition: Sendable {
  let topics: [TopicName]
  /// Without a number a topic begins with the next event.
  private(set) var numbers: [String: Int]
  /// In which the numbers were given; none is known of those that a client brings.
  var epochs: [String: String] = [:]

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
    for part in text.split(separator: ",") {
      guard let equals = part.lastIndex(of: "="), let topic = TopicName(part[..<equals]),
        let number = Int(part[part.index(after: equals)...]), number >= 0
      else { throw Self.malformed }
      if topics.contains(topic) { numbers[topic.text] = number }
    }
  }

  subscript(_ topic: String) -> Int {
    get { numbers[topic] ?? 0 }
    set { numbers[topic] = newValue }
  }

  /// The value of `id:`.
  var text: String {
    guard topics.count > 1 else { return topics.first.map { String(self[$0.text]) } ?? "0" }
    return topics.map { "\($0.text)=\(self[$0.text])" }.joined(separator: ",")
  }

  private static let malformed = Failure(
    .malformed, "invalid_last_event_id", "Last-Event-ID is not one that this stream has sent.")
}
