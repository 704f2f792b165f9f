/// What the server makes scenes with. Nobody needs to be signed in.
extension Timepoints {
  /// - Parameter onlyFree: those that cost the operator nothing.
  public func models(onlyFree: Bool = false) async throws -> TimepointModels {
    try await api.value(Call.get(onlyFree ? "/api/v1/models/free" : "/api/v1/models").anonymous)
  }

  /// - Throws: ``KithFailure``, such as `model_not_found`.
  public func model(_ id: TimepointModel.ID) async throws -> TimepointModel {
    // Ids may have a slash, which no gateway lets through escaped.
    let parts = id.split(separator: "/", maxSplits: 1)
    guard parts.count == 2 else { return try await api.value(Call.get("/api/v1/models/\(id)").anonymous) }
    return try await api.value(Call.get("/api/v1/models/\(parts[0])/\(parts[1])").anonymous)
  }

  /// By name, such as `google`.
  public func modelProviders() async throws -> [String: TimepointModelProvider] {
    try await api.value(Call.get("/api/v1/models/providers").anonymous, as: ModelProvidersAnswer.self).providers
  }
}
