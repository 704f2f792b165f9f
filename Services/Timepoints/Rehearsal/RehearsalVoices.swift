import Wire

/// What the characters of the rehearsal say.
enum RehearsalVoices {
  private static func name(in data: JSONValue) -> String { data["character"]?["name"]?.string ?? "I" }

  static func words(for data: JSONValue) -> String {
    let message = data["message"]?.string ?? ""
    var random = RehearsalRandom(name(in: data) + message)
    let begin = random.pick(["You ask me that today, of all days.", "Let me think.", "Listen."])
    let end = random.pick(["Ask me again when it is over.", "That is all I know.", "Now stand here beside me."])
    return
      "\(begin) \(name(in: data)) is my name, and of “\(message.prefix(80))” people here speak in many ways. \(end)"
  }

  static func reply(for data: JSONValue) -> JSONValue {
    .object(["response": .string(words(for: data)), "emotional_tone": .string("calm")])
  }

  static func lines(for data: JSONValue) -> JSONValue {
    let names = (data["characters"]?.elements ?? []).compactMap { $0["name"]?.string }
    let count: Int = if case .integer(let count)? = data["count"] { min(max(count, 1), 10) } else { 1 }
    let texts = [
      "It has begun.", "Then let us not turn back now.", "Do you hear it too?", "I hear it. It comes from the gate.",
      "Somebody should write this down.",
    ]
    let lines = (0..<count).compactMap { index -> JSONValue? in
      guard !names.isEmpty else { return nil }
      return .object([
        "speaker": .string(names[index % names.count]), "text": .string(texts[index % texts.count]),
        "tone": .string("quiet"), "action": .string(""),
      ])
    }
    return .object(["lines": .array(lines)])
  }

  static func answer(for data: JSONValue) -> JSONValue {
    let question = data["question"]?.string ?? ""
    var random = RehearsalRandom(name(in: data) + question)
    return .object([
      "response": .string("\(name(in: data)) thinks about it. “I can only say what I see from here.”"),
      "sentiment": .string(random.pick(["positive", "negative", "neutral", "mixed"])),
      "key_points": .array([.string("speaks only of what is seen")]), "emotional_tone": .string("thoughtful"),
    ])
  }

  static func summary(for data: JSONValue) -> JSONValue {
    let count = data["answers"]?.elements.count ?? 0
    return .object([
      "summary": .string("\(count) answers were given. All of them were careful, as this is a rehearsal.")
    ])
  }
}
