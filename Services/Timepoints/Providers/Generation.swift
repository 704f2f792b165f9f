import ClientBodies
import Database
import Foundation
import Web

/// Everything that makes scenes.
struct Generation: Sendable {
  let pipeline: Pipeline
  let voices: any CharacterVoices
  let catalog: ModelsCatalog
  let status: ProvidersStatus

  /// - Parameters:
  ///   - database: with the table of ``ProviderUsageStore``.
  ///   - drawPicture: draws the pictures of the rehearsal.
  ///   - backoff: before a call of a provider is repeated.
  /// - Throws: ``StartFailure`` for settings or files that are wrong.
  init(
    database: any Database, in dependencies: Dependencies, drawPicture: @escaping PictureDrawing,
    backoff: Duration = .milliseconds(500)
  ) throws {
    let providers = try Self.providers(dependencies.settings, drawPicture)
    let health = ProviderHealth()
    let caller = try ModelCaller(providers, in: dependencies, health: health, backoff: backoff)
    catalog = ModelsCatalog(try dependencies.settings.timepointModels(), providers: Set(providers.keys))
    let budgets = try ProviderBudgets(ProviderUsageStore(database: database), in: dependencies)
    let prompts = PromptClient(try PromptLibrary(dependencies.settings), caller)
    pipeline = Pipeline(PromptedSteps(prompts, caller, catalog), budgets)
    voices = PromptedVoices(prompts, budgets, catalog)
    status = ProvidersStatus(configured: Set(providers.keys), health: health)
  }

  /// Those with a key. In development without any the rehearsal.
  private static func providers(
    _ settings: Settings, _ drawPicture: @escaping PictureDrawing
  ) throws -> [ProviderName: any Provider] {
    var providers: [ProviderName: any Provider] = [:]
    providers[.google] = GeminiClient(settings)
    providers[.openrouter] = OpenRouterClient(settings)
    if providers.isEmpty, try settings.stage() == .development {
      providers[.rehearsal] = RehearsalProvider(drawPicture: drawPicture)
    }
    return providers
  }
}

/// Which providers there are, for health and for `/models/providers`.
struct ProvidersStatus: Sendable {
  let configured: Set<ProviderName>
  let health: ProviderHealth

  var isRehearsal: Bool { configured.contains(.rehearsal) }

  subscript(name: ProviderName) -> TimepointModelProvider {
    let isConfigured = configured.contains(name)
    return TimepointModelProvider(configured: isConfigured, answering: isConfigured ? health.isAnswering(name) : nil)
  }

  /// - Throws: ``PipelineFailure/unconfigured(variable:)`` when no provider is configured, so that a request can be
  ///   refused before any work.
  func requireConfigured() throws {
    guard !configured.isEmpty else { throw PipelineFailure.unconfigured(variable: ProviderName.google.variable) }
  }
}
