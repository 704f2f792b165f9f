import Database
import Foundation
import Logging
import Support
import Synchronization
import Web
import Wire

@testable import Timepoints

/// Makes scenes with the providers that settings name, on a database of its own.
struct SceneMaker {
  let generation: Generation
  let usage: ProviderUsageStore
  let store = StepsInMemory()

  static let query = "The gate of Miletus, 44 BCE"

  func input(
    _ query: String = SceneMaker.query, preset: Preset = .balanced, image: Bool = false, base: JumpBase? = nil
  ) -> GenerationInput {
    GenerationInput(query: query, preset: preset, wantsImage: image, base: base)
  }

  func scene(_ input: GenerationInput? = nil, in store: (any StepStore)? = nil) async throws -> GeneratedScene {
    try await generation.pipeline.run(input ?? self.input(), store: store ?? self.store) { _ in }
  }

  /// The failure that making the scene ends with.
  func failure(_ input: GenerationInput? = nil) async -> PipelineFailure? {
    do { _ = try await scene(input) } catch { return error as? PipelineFailure }
    return nil
  }
}

/// Runs `body` with a maker of scenes.
func withSceneMaker(
  _ settings: [String: String], engine: Engine = .sqlite, logger: Logger = quiet,
  now: @escaping @Sendable () -> Date = { Date() }, _ body: (SceneMaker) async throws -> Void
) async throws {
  try await withTestDatabase(engine) { testDatabase in
    let database = try await testDatabase.open(timepointsSchema)
    do {
      let dependencies = Dependencies(Settings(settings), logger: logger, now: now)
      let generation = try Generation(
        database: database, in: dependencies, drawPicture: { _, _ in tinyJPEG }, backoff: .milliseconds(1))
      try await body(SceneMaker(generation: generation, usage: ProviderUsageStore(database: database)))
      await database.close()
    } catch {
      await database.close()
      throw error
    }
  }
}

/// The results of one generation, as a database would keep them.
final class StepsInMemory: StepStore {
  private struct State {
    var results: [PipelineStep: StepResult] = [:]
    var image: GeneratedImage?
    var saves: [PipelineStep] = []
  }

  private let state = Mutex(State())

  var image: GeneratedImage? { state.withLock { $0.image } }
  /// Each save, in order.
  var saves: [PipelineStep] { state.withLock { $0.saves } }

  func results() async throws -> [PipelineStep: StepResult] { state.withLock { $0.results } }

  func save(_ result: StepResult, events: [PipelineEvent]) async throws {
    state.withLock { state in
      state.results[result.step] = result
      state.saves.append(result.step)
    }
  }

  func keep(_ image: GeneratedImage) async throws -> Bool {
    state.withLock { $0.image = image }
    return true
  }
}

/// A store that fails when a step is to be saved, as a process does that is killed there.
struct StepsUntil: StepStore {
  let step: PipelineStep
  let kept: StepsInMemory

  struct Killed: Error {}

  func results() async throws -> [PipelineStep: StepResult] { try await kept.results() }

  func save(_ result: StepResult, events: [PipelineEvent]) async throws {
    guard result.step != step else { throw Killed() }
    try await kept.save(result, events: events)
  }

  func keep(_ image: GeneratedImage) async throws -> Bool { try await kept.keep(image) }
}

/// What a generation has reported.
final class ReportedEvents: Sendable {
  private let reported = Mutex<[PipelineEvent]>([])

  var all: [PipelineEvent] { reported.withLock { $0 } }

  var steps: [PipelineStep] {
    all.compactMap { event in
      if case .completed(let result, _) = event { return result.step }
      return nil
    }
  }

  func add(_ event: PipelineEvent) { reported.withLock { $0.append(event) } }
}
