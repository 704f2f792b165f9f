import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// The invites to lists that wait for whoever asks.
struct WaitingInviteRoutes: Sendable {
  let waiting: WaitingInvites
  let destinations: Destinations
  let users: UsersClient
  let links: AppLinks
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.group(context: SignedIn.self).get("/api/v1/invites", use: list)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let open = try await open(for: user, at: now)
    let inviters = Set(open.compactMap(\.invite.inviter))
    let apart = try await destinations.groups.relations(of: user, to: inviters).blocked
    let people = try await users.names(of: inviters)
    let lists = try await lists(of: open.map(\.invite))
    let bodies: [WaitingInviteBody] = open.compactMap { made in
      guard let inviter = made.invite.inviter, !apart.contains(inviter), let list = lists[made.invite.id] else {
        return nil
      }
      return WaitingInviteBody(made, links, list, people[inviter], at: now)
    }
    return .exactJSON(["invites": bodies])
  }

  /// By the user's id, and by their address if they have proven it. While auth does not answer, only by their id.
  private func open(for user: UserID, at now: Date) async throws -> [CodeLinks.Made] {
    var open = try await waiting.open(for: user, at: now)
    do { open += try await addressed(to: user, at: now) } catch let failure as Failure where failure.isOurs {}
    return Array(open.sorted { $0.invite.createdAt > $1.invite.createdAt }.prefix(WaitingInvites.shownMax))
  }

  private func addressed(to user: UserID, at now: Date) async throws -> [CodeLinks.Made] {
    guard let email = try await users.people([user])[user]?.email else { return [] }
    let addressed = try await waiting.open(forReaderOf: email, at: now)
    guard !addressed.isEmpty, try await users.person(named: email)?.id == user else { return [] }
    return addressed
  }

  /// What they lead to, where it is still there and whoever invites still may.
  private func lists(of invites: [Invite]) async throws -> [InviteID: ListName] {
    try await withThrowingTaskGroup(of: (InviteID, ListName?).self) { group in
      var found: [InviteID: ListName] = [:]
      for (index, invite) in invites.enumerated() {
        if index >= Self.atOnce, let (id, list) = try await group.next() { found[id] = list }
        group.addTask { (invite.id, try await list(of: invite)) }
      }
      for try await (id, list) in group { found[id] = list }
      return found
    }
  }

  private static let atOnce = 8

  private func list(of invite: Invite) async throws -> ListName? {
    guard case .list(let id) = invite.destination, let inviter = invite.inviter,
      let standing = try await destinations.lists.role(of: inviter, in: id), let role = standing.role,
      ["owner", "editor"].contains(role)
    else { return nil }
    return standing.list
  }
}

/// An invite as whoever it waits for sees it.
struct WaitingInviteBody: Encodable {
  struct Inviter: Encodable {
    let name: String
  }

  let id: Int
  let code: String
  @OrNull var role: String?
  let invite_url: String
  let deep_link: String
  let list: ListName
  let inviter: Inviter
  let expires_at: Date
  let max_uses: Int
  let uses_count: Int
  let usable: Bool
  let created_at: Date

  init?(_ made: CodeLinks.Made, _ links: AppLinks, _ list: ListName, _ inviter: Person?, at now: Date) {
    let invite = made.invite
    guard let number = invite.number else { return nil }
    id = number
    code = made.code.text
    _role = OrNull(wrappedValue: invite.role)
    invite_url = links.page(ofCode: made.code)
    deep_link = links.deepLink(ofCode: made.code)
    self.list = list
    self.inviter = Inviter(name: inviter?.name ?? "")
    expires_at = invite.expiresAt
    max_uses = invite.usesMax ?? 1
    uses_count = invite.usesCount
    usable = invite.isUsable(at: now)
    created_at = invite.createdAt
  }
}
