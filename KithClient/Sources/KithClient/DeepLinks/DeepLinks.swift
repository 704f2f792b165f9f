import Foundation

/// Redeems the links that open the app: at once when somebody is signed in, else after onboarding, and never twice.
///
/// A link that waits survives a restart of the app.
public actor DeepLinks {
  /// What has become of a link.
  public enum Outcome: Sendable, Equatable {
    case redeemed(RedeemedLink)
    /// Nobody is signed in yet, or there is no network: call ``redeemPending()`` later.
    case waiting
    /// It was redeemed before, or is being redeemed.
    case ignored
    /// It is not one of the app's links.
    case unknown
  }

  private struct Waiting: Codable {
    let link: DeepLink
    /// The `Idempotency-Key`: a link whose answer was lost, also because the app was killed, is redeemed once.
    var key = UUID().uuidString.lowercased()
  }

  /// An account may use a link that another one on this device has used.
  private struct Settled: Codable, Equatable {
    let link: DeepLink
    let userID: String?
  }

  private struct State: Codable {
    var waiting: [Waiting] = []
    /// The last links that were answered for good.
    var settled: [Settled] = []
  }

  private static let waitingMax = 20
  private static let settledMax = 50
  private let client: KithClient
  private let webHosts: Set<String>
  private let file: StateFile<State>
  private var state: State
  private var running: Set<DeepLink> = []

  /// - Parameters:
  ///   - file: where links wait; in the app's Application Support folder.
  ///   - webHosts: the hosts of the app's https links.
  public init(client: KithClient, file: URL, webHosts: Set<String>) {
    self.client = client
    self.webHosts = webHosts
    self.file = StateFile(file)
    state = self.file.read() ?? State()
  }

  /// The first link that waits, for example to show its code during onboarding.
  public var pending: DeepLink? { state.waiting.first?.link }

  /// - Parameter isOnboarding: whether the user is still being asked for their name and so on. The link then waits.
  /// - Throws: the refusal, such as `invite_expired`: the link is then settled, and not tried again. And the error of
  ///   the file system when the link cannot be stored.
  public func open(_ url: URL, isOnboarding: Bool = false) async throws -> Outcome {
    guard let link = DeepLink(url, webHosts: webHosts) else { return .unknown }
    guard !running.contains(link) else { return .ignored }
    // Before anything is sent, so that an app that is killed meanwhile knows of it.
    try keep(link)
    guard !isOnboarding, case .signedIn = await client.auth.sessions.state else { return .waiting }
    return try await redeem(link)
  }

  /// Redeems the first link that waits, if there is one. To be called after onboarding and at the start, and again
  /// while ``pending`` is not nil. Safe to repeat.
  ///
  /// - Throws: as ``open(_:isOnboarding:)``.
  public func redeemPending() async throws -> Outcome {
    guard let link = pending, !running.contains(link) else { return .ignored }
    guard case .signedIn = await client.auth.sessions.state else { return .waiting }
    return try await redeem(link)
  }

  private func redeem(_ link: DeepLink) async throws -> Outcome {
    // The state of the session was awaited: the link may have been settled meanwhile.
    guard let waiting = state.waiting.first(where: { $0.link == link }), running.insert(link).inserted else {
      return .ignored
    }
    defer { running.remove(link) }
    do {
      // Says whose session it is.
      _ = try await client.api.sessions.bearer()
      let user = await client.auth.sessions.userID
      if state.settled.contains(Settled(link: link, userID: user)) {
        try settle(link, of: user)
        return .ignored
      }
      let redeemed: RedeemedLink
      do { redeemed = try await client.invites.redeem(link, idempotencyKey: waiting.key) } catch let failure
        as KithFailure where !Self.isForLater(failure)
      {
        try settle(link, of: user)
        throw failure
      }
      try settle(link, of: user)
      return .redeemed(redeemed)
    } catch let failure as KithFailure where Self.isForLater(failure) {
      return .waiting
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
    guard !state.waiting.contains(where: { $0.link == link }) else { return }
    var next = state
    next.waiting = (next.waiting + [Waiting(link: link)]).suffix(Self.waitingMax)
    try file.write(next)
    state = next
  }

  private func settle(_ link: DeepLink, of user: String?) throws {
    state.waiting.removeAll { $0.link == link }
    let settled = Settled(link: link, userID: user)
    state.settled = (state.settled.filter { $0 != settled } + [settled]).suffix(Self.settledMax)
    try file.write(state)
  }
}

extension Invites {
  /// Redeems a link of either kind. A code is one of a group, or one of a list.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app. Safe to
  ///   repeat with the same one for a day.
  /// - Throws: ``KithFailure``, such as `invite_expired`.
  public func redeem(
    _ link: DeepLink, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> RedeemedLink {
    do {
      switch link {
      case .share(let token):
        let invite = try await resolve(token: token)
        return .collection(try await accept(invite.id, idempotencyKey: idempotencyKey))
      case .code(let code):
        do { return .group(try await redeem(code, idempotencyKey: idempotencyKey)) } catch let failure as KithFailure
          where failure.code == .known(.inviteNotFound)
        {
          // Another request, so another key.
          return .list(try await acceptList(code: code, idempotencyKey: "\(idempotencyKey)-list"))
        }
      }
    } catch let failure as KithFailure {
      switch failure.code {
      case .known(.alreadyMember), .known(.alreadyAMember), .known(.alreadyOwner): return .alreadyIn
      default: throw failure
      }
    }
  }
}
