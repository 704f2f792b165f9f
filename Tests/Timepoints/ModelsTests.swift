import Foundation
import Support
import Testing
import Web

@testable import Timepoints

@Suite struct ModelsTests {
  private func catalog(_ providers: Set<ProviderName>) throws -> ModelsCatalog {
    ModelsCatalog(try Settings([:]).timepointModels(), providers: providers)
  }

  @Test func eachPresetHasModelsWithEitherKey() throws {
    for providers in [[.google], [.openrouter], [.google, .openrouter]] as [Set<ProviderName>] {
      let catalog = try catalog(providers)
      for preset in Preset.allCases {
        for kind in [Model.Kind.text, .image] {
          let models = catalog.models(for: kind, preset: preset)
          #expect(!models.isEmpty)
          #expect(models.allSatisfy { $0.makes == kind && providers.contains($0.provider) })
        }
      }
    }
  }

  @Test func aRequestedModelComesFirstAndAnUnknownOneIsPassedOver() throws {
    let catalog = try catalog([.google])
    let models = catalog.models(for: .text, preset: .balanced, requested: "gemini-3.8-flash")
    #expect(models.map(\.id) == ["gemini-3.8-flash", "gemini-3.5-flash"])
    for unknown in ["gpt-99", "openrouter/llama-3.3-70b", "gemini-3-pro-image", "../x"] {
      #expect(catalog.models(for: .text, preset: .balanced, requested: unknown).map(\.id) == ["gemini-3.5-flash"])
    }
    #expect(catalog.model("gemini-3.8-flash")?.provider == .google)
    #expect(catalog.model("openrouter/llama-3.3-70b") == nil)
    #expect(catalog.free.isEmpty)
    #expect(try self.catalog([.openrouter]).free.map(\.id) == ["openrouter/llama-3.3-70b-free"])
  }

  @Test func healthNamesTheProvidersAndWhetherTheyAnswer() async throws {
    try await withStack(.sqlite) { stack in
      let rehearsing = try await stack.timepoints.get("/health").object("providers") as? [String: String]
      #expect(rehearsing == ["google": "not_configured", "openrouter": "not_configured", "rehearsal": "ok"])
    }
    try await withGemini { gemini in
      try await withStack(.sqlite, gemini.settings) { stack in
        let alice = try await stack.signIn("alice")
        let refused = ModelCalls.Behavior.answers(status: 400, body: GeminiServer.keyError)
        gemini.calls.next(refused, for: "judge", times: 3)
        #expect(try await alice.generate("The first flight").status >= 500)
        let failing = try await stack.timepoints.get("/health").object("providers") as? [String: String]
        #expect(failing == ["google": "failing", "openrouter": "not_configured"])
      }
    }
  }

  @Test func aModelIsFoundHoweverItsIDIsWrittenInThePath() async throws {
    try await withStack(.sqlite, ["OPENROUTER_API_KEY": "a-key"]) { stack in
      for id in ["openrouter/llama-3.3-70b", "openrouter/llama%2D3.3-70b"] {
        let reply = try await stack.gateway.get("/api/v1/models/\(id)")
        #expect(reply.status == 200 && reply.string("id") == "openrouter/llama-3.3-70b", "\(id)")
      }
      // An encoded slash, which programs read in two ways.
      for server in [stack.gateway, stack.timepoints] {
        #expect(try await server.get("/api/v1/models/openrouter%2Fllama-3.3-70b").status == 400)
      }
      for id in ["openrouter/llama", "llama-3.3-70b", "openrouter/llama%ZZ"] {
        #expect(try await stack.gateway.get("/api/v1/models/\(id)").status >= 400, "\(id)")
      }
    }
  }

  @Test func unknownPresetsAreBalanced() {
    #expect(Preset(requested: nil) == .balanced)
    #expect(Preset(requested: "HD") == .balanced)
    #expect(Preset(requested: "hd") == .hd)
  }

  private static let presets = ["balanced", "hd", "hyper", "gemini3"]
    .map { "\($0): { text: [a], image: [b] }" }.joined(separator: ", ")
  private static let models =
    "{ id: a, provider: google, makes: text }, { id: b, provider: google, makes: image }"

  @Test func aFileOfOnesOwnReplacesTheList() throws {
    let file = try ModelsFile(yaml: "models: [\(Self.models)]\npresets: { \(Self.presets) }", path: "m.yaml")
    let catalog = ModelsCatalog(file, providers: [.google])
    #expect(catalog.models(for: .text, preset: .hd).map(\.id) == ["a"])
  }

  @Test(arguments: [
    ("models: [", "YAML"), ("models: []", "presets is missing"),
    ("models: [\(models), \(models)]\npresets: { \(presets) }", "a is listed twice"),
    (
      "models: [\(models)]\npresets: { \(presets.replacing("[b]", with: "[a]")) }",
      "names a, which is no model for image"
    ),
    ("models: [\(models)]\npresets: { \(presets.replacing("[a]", with: "[]")) }", "has no model for text"),
    ("models: [\(models)]\npresets: { hd: { text: [a], image: [b] } }", "the preset hyper is missing"),
    ("models: [\(models)]\npresets: { best: { text: [a], image: [b] } }", "best is no preset"),
    (
      "models: [{ id: a/../b, provider: google, makes: text }]\npresets: { \(presets) }",
      "has a name that cannot be one"
    ),
    ("models: [{ id: a, provider: acme, makes: text }]\npresets: { \(presets) }", "models"),
    ("models: [{ id: a, provider: rehearsal, makes: text }]\npresets: { \(presets) }", "is built in"),
  ])
  func mistakesAreNamed(_ yaml: String, _ mistake: String) {
    do {
      _ = try ModelsFile(yaml: yaml, path: "m.yaml")
      Issue.record("accepted: \(yaml)")
    } catch { #expect("\(error)".contains(mistake), "\(error)") }
  }
}
