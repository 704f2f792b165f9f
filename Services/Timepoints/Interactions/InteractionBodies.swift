import Foundation
import Wire

/// The characters that a request names.
enum CharacterSelection: Decodable, Sendable {
  case all
  case named([String])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // `try?`: it is a list then.
    if let text = try? container.decode(String.self) {
      self = text == "all" ? .all : .named([text])
      return
    }
    self = .named(try container.decode([String].self))
  }

  private static let namesMax = 20

  /// - Throws: 404 for a name that is not in the scene, with those that are.
  func characters(of scene: GeneratedScene) throws(Failure) -> [SceneCharacter] {
    guard case .named(let names) = self else { return scene.characters }
    guard (1...Self.namesMax).contains(names.count) else {
      throw .invalid(.init("characters", "must be all, or 1 to \(Self.namesMax) names"))
    }
    var found: [SceneCharacter] = []
    for name in names {
      let character = try scene.character(named: name)
      if !found.contains(where: { $0.name == character.name }) { found.append(character) }
    }
    return found
  }
}

extension GeneratedScene {
  /// The character with a name, or with a part of it that only one has; upper and lower case are the same.
  ///
  /// - Throws: 404 with the names that there are.
  func character(named text: String) throws(Failure) -> SceneCharacter {
    let name = text.trimmingCharacters(in: .whitespaces).lowercased()
    if let same = characters.first(where: { $0.name.lowercased() == name }) { return same }
    let alike = characters.filter { $0.name.lowercased().split(separator: " ").contains { $0 == name } }
    guard alike.count == 1, let character = alike.first else {
      throw Failure(
        .notFound, "character_not_found",
        "There is no such character. There are: \(characters.map(\.name).joined(separator: ", ")).")
    }
    return character
  }
}

/// How the answer of a character is to be made. Dialogs and surveys are structured whatever it says.
enum ResponseFormat: String, Sendable { case structured, text, auto }

enum SurveyMode: String, Codable, Sendable { case parallel, sequential }

struct ChatBody: Decodable {
  let character: String
  let message: String
  let session_id: String?
  let save_session: Bool?
  let model: String?
  let response_format: String?
}

/// A message to a character.
struct ChatRequest: Sendable {
  let character: String
  let message: String
  let session: ConversationID?
  let savesSession: Bool
  let model: String?
  private let format: ResponseFormat

  private static let messageCharacters = 1...4000
  private static let characterBytesMax = 300

  init(_ body: ChatBody) throws {
    (character, message, session, model, format) = try FieldErrors.collected(
      { try Self.character(body.character) }, { try Self.message(body.message) },
      { try Self.session(body.session_id) }, { try GenerationRequest.model(body.model, "model") },
      { try InteractionFields.format(body.response_format) })
    savesSession = body.save_session ?? false
  }

  /// Whether the model is asked for words alone, which can be streamed, and not also for their tone.
  func isPlainText(streamed: Bool) -> Bool {
    switch format {
    case .structured: false
    case .text: true
    case .auto: streamed
    }
  }

  private static func character(_ text: String) throws(Failure) -> String {
    guard (1...characterBytesMax).contains(text.utf8.count) else { throw .invalid(.init("character", "is required")) }
    return text
  }

  private static func message(_ text: String) throws(Failure) -> String {
    try InteractionFields.text(text, "message", messageCharacters)
  }

  private static func session(_ text: String?) throws(Failure) -> ConversationID? {
    guard let text else { return nil }
    guard let id = ConversationID(text) else { throw .invalid(.init("session_id", "must be a UUID")) }
    return id
  }
}

struct DialogBody: Decodable {
  let characters: CharacterSelection?
  let num_lines: Int?
  let prompt: String?
  let sequential: Bool?
  let model: String?
  let response_format: String?
}

/// More lines of a scene.
struct DialogRequest: Sendable {
  let characters: CharacterSelection
  let lineCount: Int
  let topic: String?
  let isSequential: Bool
  let model: String?

  init(_ body: DialogBody) throws {
    (lineCount, topic, model, _) = try FieldErrors.collected(
      { try InteractionFields.number(body.num_lines, "num_lines", default: 5, in: 1...10) },
      { try body.prompt.map { try InteractionFields.text($0, "prompt", 1...4000) } },
      { try GenerationRequest.model(body.model, "model") }, { try InteractionFields.format(body.response_format) })
    characters = body.characters ?? .all
    isSequential = body.sequential ?? true
  }
}

struct SurveyBody: Decodable {
  let characters: CharacterSelection?
  let questions: [String]
  let mode: String?
  let chain_prompts: Bool?
  let include_summary: Bool?
  let model: String?
  let response_format: String?
}

/// Questions to several characters.
struct SurveyRequest: Sendable {
  let characters: CharacterSelection
  let questions: [String]
  let mode: SurveyMode
  let isChained: Bool
  let hasSummary: Bool
  let model: String?

  init(_ body: SurveyBody) throws {
    (questions, mode, model, _) = try FieldErrors.collected(
      { try Self.questions(body.questions) }, { try Self.mode(body.mode) },
      { try GenerationRequest.model(body.model, "model") }, { try InteractionFields.format(body.response_format) })
    characters = body.characters ?? .all
    isChained = body.chain_prompts ?? false
    hasSummary = body.include_summary ?? true
  }

  private static func questions(_ questions: [String]) throws(Failure) -> [String] {
    guard (1...10).contains(questions.count) else { throw .invalid(.init("questions", "must be 1 to 10 questions")) }
    var read: [String] = []
    for (index, question) in questions.enumerated() {
      read.append(try InteractionFields.text(question, "questions.\(index)", 1...1000))
    }
    return read
  }

  private static func mode(_ text: String?) throws(Failure) -> SurveyMode {
    guard let mode = SurveyMode(rawValue: text ?? "parallel") else {
      throw .invalid(.init("mode", "must be parallel or sequential"))
    }
    return mode
  }
}

enum InteractionFields {
  static func text(_ text: String, _ field: String, _ characters: ClosedRange<Int>) throws(Failure) -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard characters.contains(text.count), text.utf8.count <= characters.upperBound * 4 else {
      throw .invalid(.init(field, "must have \(characters.lowerBound) to \(characters.upperBound) characters"))
    }
    return text
  }

  static func number(
    _ value: Int?, _ field: String, default fallback: Int, in range: ClosedRange<Int>
  ) throws(Failure) -> Int {
    guard range.contains(value ?? fallback) else {
      throw .invalid(.init(field, "must be from \(range.lowerBound) to \(range.upperBound)"))
    }
    return value ?? fallback
  }

  static func format(_ text: String?) throws(Failure) -> ResponseFormat {
    guard let format = ResponseFormat(rawValue: text ?? "auto") else {
      throw .invalid(.init("response_format", "must be structured, text or auto"))
    }
    return format
  }
}
