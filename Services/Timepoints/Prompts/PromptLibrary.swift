import Foundation
import Web
import Wire

/// The names of the prompts: `judge.md` with the schema `judge.json`, and so on.
enum PromptName: String, CaseIterable, Sendable {
  case judge, timeline, scene, characters, graph, moment, camera, dialog, grounding
  case imagePrompt = "image_prompt"
  case chat
  case chatText = "chat_text"
  case lines, survey
  case surveySummary = "survey_summary"

  init?(_ step: PipelineStep) { self.init(rawValue: step.rawValue) }
}

/// What is asked, without what it is asked about.
struct Prompt: Sendable {
  let name: PromptName
  /// The instructions, the same for every user.
  let instructions: String
  /// The form of the answer; nil for plain text.
  let schema: JSONSchema?
  private let lazyGuard: LazyInstructionGuard
  var instructionGuard: InstructionGuard { lazyGuard.value }

  init(name: PromptName, instructions: String, schema: JSONSchema?) {
    self.name = name
    self.instructions = instructions
    self.schema = schema
    lazyGuard = LazyInstructionGuard(instructions)
  }
}

/// All prompts. Those of the folder `TIMEPOINT_PROMPTS` replace the built-in ones, file by file.
struct PromptLibrary: Sendable {
  private let prompts: [PromptName: Prompt]

  /// - Throws: ``StartFailure`` for a file that cannot be read, is no schema, or replaces nothing.
  init(_ settings: Settings) throws { try self.init(folder: settings.nonempty("TIMEPOINT_PROMPTS")) }

  init(folder: String?) throws {
    let replacements = try Self.files(in: folder)
    func text(_ file: String) throws -> String? {
      guard let bytes = replacements[file] ?? Self.builtIn[file].map({ Data($0) }) else { return nil }
      guard let text = String(data: bytes, encoding: .utf8) else { throw Self.failure(file, "is not UTF-8") }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let rules = try text("rules.md") ?? ""
    var prompts: [PromptName: Prompt] = [:]
    for name in PromptName.allCases {
      guard let own = try text("\(name.rawValue).md"), !own.isEmpty else {
        throw Self.failure("\(name.rawValue).md", "is empty")
      }
      let schema = try text("\(name.rawValue).json").map { try Self.schema($0, "\(name.rawValue).json") }
      prompts[name] = Prompt(name: name, instructions: rules + "\n\n" + own, schema: schema)
    }
    self.prompts = prompts
  }

  /// The prompt of a name; a library has all of them.
  subscript(name: PromptName) -> Prompt {
    prompts[name] ?? Prompt(name: name, instructions: "", schema: nil)
  }

  private static func files(in folder: String?) throws -> [String: Data] {
    guard let folder else { return [:] }
    // `try?`: said as a sentence for the operator.
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw StartFailure("TIMEPOINT_PROMPTS: \(folder) cannot be read")
    }
    var files: [String: Data] = [:]
    for name in names.sorted() where !name.hasPrefix(".") {
      guard builtIn[name] != nil else { throw failure(name, "replaces no prompt") }
      guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
        throw failure(name, "cannot be read")
      }
      files[name] = data
    }
    return files
  }

  private static func schema(_ text: String, _ file: String) throws -> JSONSchema {
    do { return try JSONSchema(JSON.decode(JSONValue.self, from: Data(text.utf8))) } catch {
      throw failure(file, (error as? JSONSchema.Mistake)?.description ?? "is not JSON")
    }
  }

  private static func failure(_ file: String, _ mistake: String) -> StartFailure {
    StartFailure("TIMEPOINT_PROMPTS: \(file) \(mistake)")
  }
}
