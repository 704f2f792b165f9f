import ClientBodies
import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Lists the direct invites to the signed-in user.
struct DirectInviteRoutes: Sendable {
  let directInvites: DirectInviteStore
  let joinTargetClient: JoinTargetClient
  let users: UsersClient
  let links: AppLinks
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.group(context: SignedIn.self).get("/api/v1/invites", use: list)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let open = try await open(for: user, at: now)
    let inviters = Set(open.compactMap(\.invite.inviter))
    let blocked = try await joinTargetClient.groups.relations(of: user, to: inviters).blocked
    let people = try await users.names(of: inviters)
    let lists = try await lists(of: open.map(\.invite))
    let bodies: [ListInvitePreview] = open.compactMap { link in
      guard let inviter = link.invite.inviter, !blocked.contains(inviter), let list = lists[link.invite.id] else {
        return nil
      }
      return ListInvitePreview(link, links, list, people[inviter], at: now)
    }
    return .exactJSON(InvitesAnswer(invites: bodies))
  }

  /// The invites to the user's id and to the address that they have verified. Only those to the id while auth does not
  /// answer.
  private func open(for user: UserID, at now: Date) async throws -> [CodeLink] {
    var open = try await directInvites.open(for: user, at: now)
    do { open += try await openByEmail(to: user, at: now) } catch let failure as Failure where failure.isServerFault {}
    return Array(open.sorted { $0.invite.createdAt > $1.invite.createdAt }.prefix(DirectInviteStore.listedMax))
  }

  private func openByEmail(to user: UserID, at now: Date) async throws -> [CodeLink] {
    guard let email = try await users.people([user])[user]?.email else { return [] }
    let found = try await directInvites.open(forEmail: email, at: now)
    guard !found.isEmpty, try await users.person(named: email)?.id == user else { return [] }
    return found
  }

  /// The lists that the invites are for, without deleted lists and those to which the inviter may not invite any more.
  private func lists(of invites: [Invite]) async throws -> [InviteID: ListSummary] {
    try await withThrowingTaskGroup(of: (InviteID, ListSummary?).self) { group in
      var found: [InviteID: ListSummary] = [:]
      for (index, invite) in invites.enumerated() {
        if index >= Self.concurrentCallsMax, let (id, list) = try await group.next() { found[id] = list }
        group.addTask { (invite.id, try await list(of: invite)) }
      }
      for try await (id, list) in group { found[id] = list }
      return found
    }
  }

  private static let concurrentCallsMax = 8

  private func list(of invite: Invite) async throws -> ListSummary? {
    guard case .list(let id) = invite.target, let inviter = invite.inviter,
      let membership = try await joinTargetClient.lists.membership(of: inviter, in: id), let role = membership.role,
      ListRole(rawValue: role)?.mayEdit ?? false
    else { return nil }
    return membership.list
  }
}
