/// A model that the configuration lists.
struct Model: Codable, Hashable, Sendable {
  enum Kind: String, Codable, Sendable { case text, image }

  /// The name in requests and answers of this service.
  let id: String
  let provider: ProviderName
  /// The name at the provider.
  let name: String
  let makes: Kind
  let isFree: Bool

  init(id: String, provider: ProviderName, name: String? = nil, makes: Kind, isFree: Bool = false) {
    self.id = id
    self.provider = provider
    self.name = name ?? id
    self.makes = makes
    self.isFree = isFree
  }

  enum CodingKeys: String, CodingKey {
    case id, provider, name, makes
    case isFree = "free"
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try members.decode(String.self, forKey: .id),
      provider: try members.decode(ProviderName.self, forKey: .provider),
      name: try members.decodeIfPresent(String.self, forKey: .name),
      makes: try members.decode(Kind.self, forKey: .makes),
      isFree: try members.decodeIfPresent(Bool.self, forKey: .isFree) ?? false)
  }
}

extension Model {
  static let rehearsalText = Model(id: "rehearsal", provider: .rehearsal, makes: .text, isFree: true)
  static let rehearsalImage = Model(id: "rehearsal-image", provider: .rehearsal, makes: .image, isFree: true)
}
