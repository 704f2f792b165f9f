import Foundation
import Wire

/// Makes a scene step by step.
struct Pipeline: Sendable {
  private let answers: any StepAnswering
  private let budgets: ProviderBudgets

  init(_ answers: any StepAnswering, _ budgets: ProviderBudgets) {
    self.answers = answers
    self.budgets = budgets
  }

  /// Asks for what the store does not have yet. Safe to repeat: it continues where an earlier run has ended.
  ///
  /// When a step fails, those that run beside it end and are stored before the failure is thrown.
  ///
  /// - Parameter onStep: gets each event once it is stored; at first those of steps that an earlier run has stored.
  /// - Throws: ``PipelineFailure``, what the store throws, and `CancellationError`.
  func run(
    _ input: GenerationInput, store: any StepStore, onStep: @Sendable (PipelineEvent) async throws -> Void
  ) async throws -> GeneratedScene {
    try await budgets.withBudget { try await run(input, store: store, $0, onStep: onStep) }
  }

  private func run(
    _ input: GenerationInput, store: any StepStore, _ budget: RequestBudget,
    onStep: (PipelineEvent) async throws -> Void
  ) async throws -> GeneratedScene {
    var results = try await store.results().filter { input.steps.contains($0.key) }
    var reports = StepReports(input.steps, stored: Set(results.keys))
    for event in try reports.due(results) { try await onStep(event) }
    try Self.requireMoment(results)
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      var started = Set(results.keys)
      var failure: (any Error)?
      func startReady() {
        for step in input.steps where !started.contains(step) && step.dependencies.allSatisfy({ results[$0] != nil }) {
          started.insert(step)
          let known = results
          group.addTask { await outcome(of: step, input, known, budget) }
        }
      }
      startReady()
      while let outcome = try await group.next() {
        switch outcome {
        case .success(let answer):
          let result = try await Self.kept(answer, in: store)
          results[result.step] = result
          let events = try reports.due(results)
          try await store.save(result, events: events)
          for event in events { try await onStep(event) }
          do { try Self.requireMoment(results) } catch { failure = failure ?? error }
        case .failure(let error): failure = failure ?? error
        }
        if failure == nil { startReady() }
      }
      if let failure { throw failure }
    }
    return try GeneratedScene(results)
  }

  /// The result of an answer whose picture, if it has one, is kept. Without a picture the scene is complete as well.
  private static func kept(_ answer: StepAnswer, in store: any StepStore) async throws -> StepResult {
    guard let image = answer.image, try await !store.keep(image) else { return answer.result }
    let outcome = ImageOutcome(hasImage: false, error: "The picture could not be made.")
    return answer.result.with(json: try JSONValue(encoding: outcome))
  }

  private typealias Outcome = Result<StepAnswer, any Error>

  private func outcome(
    of step: PipelineStep, _ input: GenerationInput, _ results: [PipelineStep: StepResult], _ budget: RequestBudget
  ) async -> Outcome {
    do {
      return .success(try await answers.answer(step, of: input, after: results, budget: budget))
    } catch { return .failure(error) }
  }

  private static func requireMoment(_ results: [PipelineStep: StepResult]) throws {
    guard results[.judge] != nil else { return }
    let judgement: Judgement = try results.value(of: .judge)
    guard judgement.isMoment else { throw PipelineFailure.refused(Self.sentence(judgement.reason)) }
  }

  private static func sentence(_ reason: String) -> String {
    "That is not a moment in time. Name an event, a place or a year." + (reason.isEmpty ? "" : " \(reason)")
  }
}

/// The answer of one step.
struct StepAnswer: Sendable {
  let result: StepResult
  var image: GeneratedImage?
}

/// Makes one step from the results of those before it.
protocol StepAnswering: Sendable {
  /// - Throws: ``PipelineFailure``, `CancellationError`. A picture that fails is a result, not an error.
  func answer(
    _ step: PipelineStep, of input: GenerationInput, after results: [PipelineStep: StepResult], budget: RequestBudget
  ) async throws -> StepAnswer
}

/// Reports each step once, after all steps before it in the list.
private struct StepReports {
  private var pending: ArraySlice<PipelineStep>
  private let stored: Set<PipelineStep>

  init(_ steps: [PipelineStep], stored: Set<PipelineStep>) {
    pending = steps[...]
    self.stored = stored
  }

  /// The events that are due now.
  mutating func due(_ results: [PipelineStep: StepResult]) throws -> [PipelineEvent] {
    var events: [PipelineEvent] = []
    while let step = pending.first, let result = results[step] {
      pending.removeFirst()
      let wasStored = stored.contains(step)
      if step == .imageGeneration {
        let outcome: ImageOutcome = try results.value(of: step)
        guard outcome.hasImage else {
          events.append(.imageFailed(message: outcome.error ?? "", wasStored: wasStored))
          continue
        }
      }
      events.append(.completed(result, wasStored: wasStored))
    }
    return events
  }
}
