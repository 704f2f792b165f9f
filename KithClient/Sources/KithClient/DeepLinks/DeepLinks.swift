import Foundation

/// Redeems the links that open the app: at once when somebody is signed in, else after onboarding, and never twice.
///
/// A link that waits survives a restart of the app.
public actor DeepLinks {
  public enum Outcome: Sendable, Equatable {
    case redeemed(RedeemedLink)
    /// Nobody is signed in yet, or there is no network: call ``redeemPending()`` later.
    case waiting
    /// It was redeemed before, or is being redeemed.
    case ignored
    /// It is not one of the app's links.
    case unknown
  }

  private struct State: Codable {
    var pending: DeepLink?
    /// The last links that were answered for good.
    var settled: [DeepLink] = []
  }

  private static let settledMax = 50
  private let client: KithClient
  private let webHosts: Set<String>
  private let file: StateFile<State>
  private var state: State
  private var running: Set<DeepLink> = []

  /// - Parameters:
  ///   - file: where a link waits; in the app's Application Support folder.
  ///   - webHosts: the hosts of the app's https links.
  public init(client: KithClient, file: URL, webHosts: Set<String>) {
    self.client = client
    self.webHosts = webHosts
    self.file = StateFile(file)
    state = self.file.read() ?? State()
  }

  /// The link that waits, for example to show its code during onboarding.
  public var pending: DeepLink? { state.pending }

  /// - Parameter isOnboarding: whether the user is still being asked for their name and so on. The link then waits.
  /// - Throws: the refusal, such as `invite_expired`. The link is then settled, and not tried again.
  public func open(_ url: URL, isOnboarding: Bool = false) async throws -> Outcome {
    guard let link = DeepLink(url, webHosts: webHosts) else { return .unknown }
    guard !state.settled.contains(link), !running.contains(link) else { return .ignored }
    guard !isOnboarding, case .signedIn = await client.auth.sessions.state else {
      try keep(link)
      return .waiting
    }
    return try await redeem(link)
  }

  /// Redeems the link that waits, if there is one. To be called after onboarding, and at the start.
  public func redeemPending() async throws -> Outcome {
    guard let link = state.pending, !running.contains(link) else { return .ignored }
    guard case .signedIn = await client.auth.sessions.state else { return .waiting }
    return try await redeem(link)
  }

  private func redeem(_ link: DeepLink) async throws -> Outcome {
    // The state of the session was awaited: the link may have been settled meanwhile.
    guard !state.settled.contains(link), running.insert(link).inserted else { return .ignored }
    defer { running.remove(link) }
    do {
      let redeemed = try await client.invites.redeem(link)
      try settle(link)
      return .redeemed(redeemed)
    } catch let failure as KithFailure where Self.isForLater(failure) {
      try keep(link)
      return .waiting
    } catch let failure as KithFailure {
      try settle(link)
      throw failure
    }
  }

  private static func isForLater(_ failure: KithFailure) -> Bool {
    switch failure {
    case .unreachable, .signedOut, .tokenStoreUnavailable: true
    case .refused(let refusal): refusal.status == 401 || refusal.status == 429 || refusal.status >= 500
    case .undecodable, .invalid: false
    }
  }

  private func keep(_ link: DeepLink) throws {
    guard state.pending != link else { return }
    state.pending = link
    try file.write(state)
  }

  private func settle(_ link: DeepLink) throws {
    if state.pending == link { state.pending = nil }
    state.settled = (state.settled + [link]).suffix(Self.settledMax)
    try file.write(state)
  }
}

extension Invites {
  /// Redeems a link of either kind. A code is one of a group, or one of a list.
  public func redeem(_ link: DeepLink) async throws -> RedeemedLink {
    do {
      switch link {
      case .share(let token): return .collection(try await accept(try await resolve(token: token).id))
      case .code(let code):
        do { return .group(try await redeem(code)) } catch let failure as KithFailure
          where failure.code == .known(.inviteNotFound)
        { return .list(try await acceptList(code: code)) }
      }
    } catch let failure as KithFailure {
      switch failure.code {
      case .known(.alreadyMember), .known(.alreadyAMember), .known(.alreadyOwner): return .alreadyIn
      default: throw failure
      }
    }
  }
}
