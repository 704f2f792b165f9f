import Wire

/// Right answers to the questions of a scene, by the members that the schema of a question requires.
package enum SceneAnswers {
  /// The name of the question; `text` without a schema.
  package static func step(required: [String]) -> String {
    let members = Set(required)
    return marks.first { members.contains($0.member) }?.step ?? "text"
  }

  private static let marks = [
    (member: "is_moment", step: "judge"), (member: "historical_context", step: "timeline"),
    (member: "lighting", step: "scene"), (member: "characters", step: "characters"),
    (member: "relationships", step: "graph"), (member: "emotional_beats", step: "moment"),
    (member: "focal_point", step: "camera"), (member: "lines", step: "dialog"),
    (member: "verified_facts", step: "grounding"), (member: "style", step: "image_prompt"),
    (member: "sentiment", step: "survey"), (member: "response", step: "chat"),
    (member: "summary", step: "survey_summary"),
  ]

  package static func answer(to step: String) -> JSONValue { answers[step] ?? .string("Greek fire and bread.") }

  /// The text of an answer in which texts are pieces of the instructions.
  static func answer(to step: String, leaking instructions: String) throws -> String {
    let piece = String(instructions.dropFirst(60).prefix(120))
    guard let answer = answers[step] else { return piece }
    return String(decoding: try answer.leaking(piece).data, as: UTF8.self)
  }

  /// What characters say when they are asked for plain text.
  package static let words = "Je l’ai vu — moi-même. 🔥 The gate is open."

  package static let names = ["Anna of the Gate", "Nikos"]

  private static func character(_ name: String) -> JSONValue {
    [
      "name": .string(name), "role": "guard", "description": "Tall.", "clothing": "A grey cloak.",
      "personality": "Calm.", "speaking_style": "Plain.", "emotional_state": "Alert.",
      "dialog_context": "The gate.", "historical_note": "One of many.", "speaks_in_scene": true,
    ]
  }

  private static let answers: [String: JSONValue] = [
    "judge": ["is_moment": true, "title": "The gate of Miletus, 44 BCE", "reason": ""],
    "timeline": [
      "year": -44, "month": 3, "day": 15, "hour": .null, "minute": .null, "season": "spring",
      "time_of_day": "dawn", "era": "Late Republic", "location": "Miletus", "historical_context": "A long war.",
    ],
    "scene": [
      "setting": "A gate.", "atmosphere": "Quiet.", "weather": "Dry.", "lighting": "Low sun.",
      "sounds": ["hooves"], "smells": ["dust"], "objects": ["a spear"],
    ],
    "characters": ["characters": .array(names.map(character))],
    "graph": [
      "relationships": [
        ["from": "Anna of the Gate", "to": "Nikos", "kind": "friend", "description": "They stand guard together."]
      ]
    ],
    "moment": [
      "summary": "A rider comes.", "before": "Night.", "after": "War.", "stakes": "The city.", "tension": "Who is it?",
      "emotional_beats": ["waiting"],
    ],
    "camera": ["shot": "wide shot", "angle": "eye level", "focal_point": "the rider", "composition": "In the middle."],
    "dialog": [
      "lines": [
        ["speaker": "Nikos", "text": "A rider!", "tone": "loud", "action": "points"],
        ["speaker": "Anna of the Gate", "text": "Open.", "tone": "calm", "action": ""],
      ]
    ],
    "grounding": ["verified_facts": ["Miletus had gates."], "assumptions": ["The rider."], "confidence": .number(0.5)],
    "image_prompt": ["prompt": "A rider before a gate.", "style": "painting"],
    "chat": ["response": "I have seen it.", "emotional_tone": "calm"],
    "survey": [
      "response": "I fear it.", "sentiment": "negative", "key_points": ["fear"], "emotional_tone": "afraid",
    ],
    "survey_summary": ["summary": "All of them fear it."],
  ]
}

extension JSONValue {
  /// Members that may hold any sentence.
  private static let sentences: Set = [
    "title", "historical_context", "setting", "description", "summary", "composition", "text", "assumptions", "prompt",
    "response",
  ]

  /// With another text in all members that may hold any sentence.
  fileprivate func leaking(_ text: String, as name: String = "") -> JSONValue {
    switch self {
    case .string: Self.sentences.contains(name) ? .string(text) : self
    case .array(let values): .array(values.map { $0.leaking(text, as: name) })
    case .object(let members):
      .object(Dictionary(uniqueKeysWithValues: members.map { ($0, $1.leaking(text, as: $0)) }))
    default: self
    }
  }
}
