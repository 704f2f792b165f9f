import Foundation
import Wire

/// What a schema cannot say about an answer. No rule repeats a text of the answer.
enum AnswerRules {
  static func mistakes(
    in answer: JSONValue, of step: PipelineStep, after results: [PipelineStep: StepResult]
  ) -> [String] {
    switch step {
    case .timeline: timeline(answer)
    case .characters: characters(answer)
    case .graph: graph(answer, names(in: results))
    case .dialog: dialog(answer, speakers: speakers(in: results))
    case .judge: form(answer, Judgement.self)
    case .scene: form(answer, SceneSetting.self)
    case .moment: form(answer, Moment.self)
    case .camera: form(answer, Camera.self)
    case .grounding: form(answer, Grounding.self)
    case .imagePrompt: form(answer, ImagePrompt.self)
    case .imageGeneration: []
    }
  }

  static func dialog(_ answer: JSONValue, speakers: Set<String>) -> [String] {
    guard let dialog: Dialog = value(answer) else { return ["the lines cannot be read"] }
    let isWrong = dialog.lines.contains { !speakers.contains($0.speaker) }
    return isWrong ? ["a speaker is none of the characters who speak"] : []
  }

  /// A schema that replaces a built-in one may let other forms through.
  private static func form<T: Decodable>(_ answer: JSONValue, _ type: T.Type) -> [String] {
    (value(answer) as T?) == nil ? ["it has another form than asked for"] : []
  }

  private static func timeline(_ answer: JSONValue) -> [String] {
    guard let timeline: Timeline = value(answer) else { return ["the timeline cannot be read"] }
    var mistakes: [String] = []
    if timeline.year == 0 { mistakes.append("there is no year 0") }
    if timeline.day != nil, timeline.month == nil { mistakes.append("a day needs its month") }
    if timeline.minute != nil, timeline.hour == nil { mistakes.append("a minute needs its hour") }
    if timeline.year != 0, timeline.date.day != timeline.day { mistakes.append("the month does not have that day") }
    return mistakes
  }

  private static func characters(_ answer: JSONValue) -> [String] {
    guard let people: SceneCharacters = value(answer) else { return ["the characters cannot be read"] }
    var mistakes: [String] = []
    let names = people.characters.map { $0.name.lowercased() }
    if Set(names).count < names.count { mistakes.append("a name is there twice") }
    if !people.characters.contains(where: \.speaksInScene) { mistakes.append("nobody speaks") }
    return mistakes
  }

  private static func graph(_ answer: JSONValue, _ names: Set<String>) -> [String] {
    guard let graph: CharacterGraph = value(answer) else { return ["the relationships cannot be read"] }
    let isWrong = graph.relationships.contains {
      !names.contains($0.from) || !names.contains($0.to) || $0.from == $0.to
    }
    return isWrong ? ["a relationship is not between two of the characters"] : []
  }

  private static func people(in results: [PipelineStep: StepResult]) -> [SceneCharacter] {
    // `try?`: a stored result has been checked.
    (try? results.value(of: .characters) as SceneCharacters)?.characters ?? []
  }

  private static func names(in results: [PipelineStep: StepResult]) -> Set<String> {
    Set(people(in: results).map(\.name))
  }

  private static func speakers(in results: [PipelineStep: StepResult]) -> Set<String> {
    Set(people(in: results).filter(\.speaksInScene).map(\.name))
  }

  private static func value<T: Decodable>(_ json: JSONValue) -> T? {
    // `try?`: an answer of another form is a mistake to be named.
    try? JSON.decode(T.self, from: JSON.encode(json))
  }
}
