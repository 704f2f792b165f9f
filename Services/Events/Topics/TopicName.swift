import Foundation
import Web
import Wire

/// The name of a topic: its kind, a colon and the id of the thing that it is about.
struct TopicName: Hashable, Sendable {
  /// The kinds of things that have topics.
  enum Kind: String, Sendable, CaseIterable {
    case lists
    case collections
    case socialGroups = "social_groups"
    case scavengerHunts = "scavenger_hunts"
    /// What is submitted in a hunt: not everybody sees it who sees the hunt.
    case checkpointSubmissions = "checkpoint_submissions"
    case savedPlaces = "saved_places"
    case adventures
    case etaShares = "eta_shares"
    case users
  }

  /// Who knows which users may read a topic.
  enum Owner: Sendable, Hashable {
    case service(ServiceName)
    /// The topic is this user's own.
    case user(UserID)
  }

  let kind: Kind
  let text: String
  let owner: Owner

  /// nil for any other text. UUIDs are accepted in either case, as Swift writes them in upper case.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
    self.kind = kind
    switch kind {
    case .lists:
      guard let id = Int(parts[1]), id > 0, String(id) == parts[1] else { return nil }
      self.text = String(text)
      owner = .service(.lists)
    case .socialGroups, .collections, .scavengerHunts, .checkpointSubmissions, .savedPlaces, .adventures, .etaShares,
      .users:
      guard let id = ID<Any>(String(parts[1])) else { return nil }
      self.text = "\(kind.rawValue):\(id)"
      owner = kind.owner(of: id.uuid)
    }
  }

  /// The topic of rows that belong to the thing, and that not all of its readers see. nil where there are none.
  var withFewerReaders: TopicName? { kind == .scavengerHunts ? sibling(.checkpointSubmissions) : nil }

  /// The topic of the thing to which the rows of this one belong.
  var withMoreReaders: TopicName? { kind == .checkpointSubmissions ? sibling(.scavengerHunts) : nil }

  private func sibling(_ other: Kind) -> TopicName? {
    TopicName(other.rawValue + text.dropFirst(kind.rawValue.count))
  }

  /// All topics that are a user's own.
  static func own(_ user: UserID) -> [String] { Kind.own.map { "\($0.rawValue):\(user)" } }
}

extension TopicName.Kind {
  static let own: [Self] = [.users, .savedPlaces, .adventures, .etaShares]

  /// Whether its readers may send broadcasts and see who is present.
  var isConversation: Bool {
    switch self {
    case .lists, .socialGroups, .scavengerHunts, .etaShares: true
    case .collections, .checkpointSubmissions, .savedPlaces, .adventures, .users: false
    }
  }

  fileprivate func owner(of id: UUID) -> TopicName.Owner {
    switch self {
    case .lists: .service(.lists)
    case .socialGroups, .collections: .service(.groups)
    case .scavengerHunts, .checkpointSubmissions: .service(.adventures)
    case .savedPlaces, .adventures, .etaShares, .users: .user(UserID(id))
    }
  }
}
