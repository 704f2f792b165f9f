import Web

/// Which models there are, for requests and for `/models`.
struct ModelsCatalog: Sendable {
  /// Those of the providers that are configured; in a rehearsal its own.
  let models: [Model]
  let isRehearsal: Bool
  private let presets: [Preset: ModelsFile.Choice]
  private let byID: [String: Model]

  init(_ file: ModelsFile, providers: Set<ProviderName>) {
    isRehearsal = providers.contains(.rehearsal)
    models =
      isRehearsal ? [.rehearsalText, .rehearsalImage] : file.models.filter { providers.contains($0.provider) }
    presets = file.presets
    byID = models.reduce(into: [:]) { $0[$1.id] = $1 }
  }

  /// nil for a model that is not listed, or whose provider has no key.
  func model(_ id: String) -> Model? { byID[id] }

  var free: [Model] { models.filter(\.isFree) }

  /// The models of a preset in the order in which they are tried, after the one that is asked for.
  ///
  /// - Parameter requested: a model's id; one that is not listed or makes something else is passed over.
  func models(for kind: Model.Kind, preset: Preset, requested: String? = nil) -> [Model] {
    let own: [Model]
    if isRehearsal {
      own = models.filter { $0.makes == kind }
    } else {
      let choice = presets[preset]
      own = ((kind == .text ? choice?.text : choice?.image) ?? []).compactMap { byID[$0] }
    }
    guard let first = requested.flatMap({ byID[$0] }), first.makes == kind else { return own }
    return [first] + own.filter { $0 != first }
  }
}
