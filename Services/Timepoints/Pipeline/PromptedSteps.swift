import Foundation
import Wire

/// Makes the steps by asking models.
struct PromptedSteps: StepAnswering {
  private let prompts: PromptClient
  private let caller: ModelCaller
  private let catalog: ModelsCatalog

  init(_ prompts: PromptClient, _ caller: ModelCaller, _ catalog: ModelsCatalog) {
    self.prompts = prompts
    self.caller = caller
    self.catalog = catalog
  }

  func answer(
    _ step: PipelineStep, of input: GenerationInput, after results: [PipelineStep: StepResult], budget: RequestBudget
  ) async throws -> StepAnswer {
    let began = ContinuousClock.now
    switch (step, input.base) {
    case (.imageGeneration, _): return try await image(of: input, after: results, budget, began)
    case (.judge, .some):
      // Where a jump arrives is a moment, as where it began was one.
      let judgement = Judgement(isMoment: true, title: input.query, reason: "")
      return StepAnswer(result: try StepResult(step, judgement, model: "", tokens: 0, since: began))
    case (_, let base):
      var result = try await asked(step, of: input, after: results, budget, began)
      if step == .timeline, let base { result = try Self.moved(result, to: base.target) }
      return StepAnswer(result: result)
    }
  }

  private func asked(
    _ step: PipelineStep, of input: GenerationInput, after results: [PipelineStep: StepResult],
    _ budget: RequestBudget, _ began: ContinuousClock.Instant
  ) async throws -> StepResult {
    guard let name = PromptName(step) else { throw PipelineFailure.provider(step) }
    let models = catalog.models(for: .text, preset: input.preset, requested: input.textModel)
    do {
      let answer = try await prompts.answer(
        name, about: try Self.data(for: step, of: input, after: results), models: models, budget: budget
      ) { AnswerRules.mistakes(in: $0, of: step, after: results) }
      return StepResult(step, json: answer.json, model: answer.model, tokens: answer.tokens, since: began)
    } catch PipelineFailure.provider { throw PipelineFailure.provider(step) }
  }

  /// The material of a step: the results that it depends on, and the query where nothing has been made of it yet.
  private static func data(
    for step: PipelineStep, of input: GenerationInput, after results: [PipelineStep: StepResult]
  ) throws -> JSONValue {
    var members: [String: JSONValue] = [:]
    for needed in step.dependencies where needed != .judge { members[needed.rawValue] = results[needed]?.json }
    // The people themselves, without the object around them.
    if let people = members["characters"]?["characters"] { members["characters"] = people }
    if let title = results[.judge]?.json["title"] { members["title"] = title }
    if step == .judge || step == .timeline { members["query"] = .string(input.query) }
    if step == .timeline, let base = input.base { members["jump"] = try base.json }
    return .object(members)
  }

  private static func moved(_ result: StepResult, to target: HistoricalDate) throws -> StepResult {
    let timeline: Timeline = try [.timeline: result].value(of: .timeline)
    return StepResult(
      step: result.step, json: try JSONValue(encoding: timeline.with(target)), model: result.model,
      milliseconds: result.milliseconds, tokens: result.tokens)
  }

  private func image(
    of input: GenerationInput, after results: [PipelineStep: StepResult], _ budget: RequestBudget,
    _ began: ContinuousClock.Instant
  ) async throws -> StepAnswer {
    let order: ImagePrompt = try results.value(of: .imagePrompt)
    let judgement: Judgement = try results.value(of: .judge)
    let models = catalog.models(for: .image, preset: input.preset, requested: input.imageModel)
    let request = ImageRequest(prompt: "\(order.prompt)\n\nStyle: \(order.style)", title: judgement.title)
    do {
      let answer = try await caller.image(request, models: models, budget: budget)
      let outcome = ImageOutcome(hasImage: true, error: nil)
      return StepAnswer(
        result: try StepResult(
          .imageGeneration, outcome, model: answer.image.model, tokens: answer.tokens, since: began),
        image: answer.image)
    } catch let failure as PipelineFailure {
      let outcome = ImageOutcome(hasImage: false, error: failure.pictureSentence)
      return StepAnswer(result: try StepResult(.imageGeneration, outcome, model: "", tokens: 0, since: began))
    }
  }
}

extension StepResult {
  init(_ step: PipelineStep, json: JSONValue, model: String, tokens: Int, since began: ContinuousClock.Instant) {
    let (seconds, attoseconds) = (ContinuousClock.now - began).components
    self.init(
      step: step, json: json, model: model,
      milliseconds: Int(clamping: seconds) * 1000 + Int(clamping: attoseconds / 1_000_000_000_000_000), tokens: tokens)
  }

  /// - Throws: `EncodingError`.
  init(
    _ step: PipelineStep, _ value: some Encodable, model: String, tokens: Int, since began: ContinuousClock.Instant
  ) throws {
    self.init(step, json: try JSONValue(encoding: value), model: model, tokens: tokens, since: began)
  }
}

extension JSONValue {
  /// - Throws: `EncodingError`.
  init(encoding value: some Encodable) throws {
    self = try JSON.decode(JSONValue.self, from: JSON.encode(value))
  }
}

extension JumpBase {
  /// What the timeline's prompt is told of it.
  fileprivate var json: JSONValue {
    get throws {
      .object([
        "from": try JSONValue(encoding: scene.timeline), "from_title": .string(scene.title),
        "summary": .string(scene.moment.summary), "target": try JSONValue(encoding: target),
        "direction": .string(direction.rawValue), "units": .integer(units), "unit": .string(unit.rawValue),
      ])
    }
  }
}

extension PipelineFailure {
  /// Why a scene has no picture.
  fileprivate var pictureSentence: String {
    switch self {
    case .refused: "This picture cannot be made."
    case .timedOut: "The picture took too long."
    case .overloaded: "Too many pictures are being made."
    case .unconfigured: "No pictures can be made here."
    case .provider, .budgetExhausted: "The picture could not be made."
    }
  }
}
