/// A model that makes texts or images.
public struct TimepointModel: Sendable, Equatable, Codable, Identifiable {
  /// For ``TimepointRequest/textModel`` and so on.
  public let id: String
  public let provider: String
  /// At the provider.
  public let name: String
  /// `text` or `image`.
  public let makes: String
  /// Whether it costs the operator nothing. The user pays the same credits.
  public let isFree: Bool

  private enum CodingKeys: String, CodingKey {
    case id, provider, name, makes
    case isFree = "is_free"
  }

  public init(id: String, provider: String, name: String, makes: String, isFree: Bool) {
    self.id = id
    self.provider = provider
    self.name = name
    self.makes = makes
    self.isFree = isFree
  }
}

/// The models of a server.
public struct TimepointModels: Sendable, Equatable, Codable {
  public let models: [TimepointModel]
  /// How many they are.
  public let total: Int?
  /// Whether scenes are made up without a model, as the server has no key of a provider.
  public let isRehearsal: Bool

  private enum CodingKeys: String, CodingKey {
    case models, total
    case isRehearsal = "is_rehearsal"
  }

  public init(models: [TimepointModel], total: Int?, isRehearsal: Bool) {
    self.models = models
    self.total = total
    self.isRehearsal = isRehearsal
  }
}

/// A provider of models.
public struct TimepointModelProvider: Sendable, Equatable, Codable {
  /// Whether the server has a key.
  public let configured: Bool
  /// Whether the last call was answered. nil: not configured.
  public let answering: Bool?

  public init(configured: Bool, answering: Bool? = nil) {
    self.configured = configured
    self.answering = answering
  }
}

/// The providers by name.
package struct ModelProvidersAnswer: Sendable, Codable {
  package let providers: [String: TimepointModelProvider]

  package init(providers: [String: TimepointModelProvider]) {
    self.providers = providers
  }
}
