/// What a generation is asked for. It is stored with the job, so that another process can continue it.
struct GenerationInput: Codable, Hashable, Sendable {
  let query: String
  let preset: Preset
  /// A model of ``ModelsCatalog`` that is tried before those of the preset.
  var textModel: String?
  var imageModel: String?
  let wantsImage: Bool
  /// For a jump in time: where it begins.
  var base: JumpBase?

  /// The steps of this generation.
  var steps: [PipelineStep] { PipelineStep.allCases.filter { wantsImage || $0 != .imageGeneration } }
}

/// The scene that a jump in time leaves, and when it arrives.
struct JumpBase: Codable, Hashable, Sendable {
  let scene: GeneratedScene
  let target: HistoricalDate
  let direction: JumpDirection
  let units: Int
  let unit: TimeUnit
}

/// Which models are used. The raw values are those of the app.
enum Preset: String, CaseIterable, Codable, Sendable {
  case hd, hyper, balanced, gemini3

  /// The preset that a request names; balanced for none and for one that does not exist.
  init(requested name: String?) { self = name.flatMap(Preset.init(rawValue:)) ?? .balanced }
}
