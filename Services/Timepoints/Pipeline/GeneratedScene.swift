import Wire

/// A complete scene, as its steps have made it.
struct GeneratedScene: Codable, Hashable, Sendable {
  let title: String
  let timeline: Timeline
  let scene: SceneSetting
  let characters: [SceneCharacter]
  let graph: CharacterGraph
  let moment: Moment
  let camera: Camera
  let dialog: [DialogLine]
  let grounding: Grounding
  let imagePrompt: ImagePrompt
  /// nil when no picture was asked for.
  let image: ImageOutcome?
  /// The models that have answered, as the providers name them, without repetition.
  let textModel: String
  /// nil without a picture.
  let imageModel: String?

  enum CodingKeys: String, CodingKey {
    case title, timeline, scene, characters, graph, moment, camera, dialog, grounding, image
    case imagePrompt = "image_prompt"
    case textModel = "text_model"
    case imageModel = "image_model"
  }
}

extension GeneratedScene {
  /// - Throws: `DecodingError` for a result that is missing or has another form.
  init(_ results: [PipelineStep: StepResult]) throws {
    func decode<T: Decodable>(_ step: PipelineStep) throws -> T { try results.value(of: step) }
    let judgement: Judgement = try decode(.judge)
    title = judgement.title
    timeline = try decode(.timeline)
    scene = try decode(.scene)
    let people: SceneCharacters = try decode(.characters)
    characters = people.characters
    graph = try decode(.graph)
    moment = try decode(.moment)
    camera = try decode(.camera)
    let spoken: Dialog = try decode(.dialog)
    dialog = spoken.lines
    grounding = try decode(.grounding)
    imagePrompt = try decode(.imagePrompt)
    image = results[.imageGeneration] == nil ? nil : try decode(.imageGeneration)
    let models = PipelineStep.allCases.filter { $0 != .imageGeneration }.compactMap { results[$0]?.model }
    textModel = models.reduce(into: [String]()) { if !$1.isEmpty, !$0.contains($1) { $0.append($1) } }
      .joined(separator: ", ")
    imageModel = image?.hasImage == true ? results[.imageGeneration]?.model : nil
  }
}

extension [PipelineStep: StepResult] {
  /// - Throws: `DecodingError` when the result is missing or has another form.
  func value<T: Decodable>(of step: PipelineStep) throws -> T {
    guard let result = self[step] else {
      throw DecodingError.valueNotFound(
        T.self, .init(codingPath: [], debugDescription: "the step \(step.rawValue) has no result"))
    }
    return try JSON.decode(T.self, from: JSON.encode(result.json))
  }
}

extension SceneCharacter {
  /// Who the person is, in words of the scene, as apps show it under `system_prompt`. It is never sent to a provider.
  func portrait(in timeline: Timeline) -> String {
    """
    \(name), \(role), \(timeline.location), \(timeline.yearText). \(description) \(personality) \
    Speaks so: \(speakingStyle) Feels now: \(emotionalState)
    """
  }
}

extension Timeline {
  /// The year as people write it: `1969`, `44 BCE`.
  var yearText: String { year < 0 ? "\(-year) BCE" : "\(year)" }
}
