import Clients
import Foundation
import Web
import Wire

/// Asks the services that own what invites lead to.
struct Destinations: Sendable {
  let groups: GroupsClient
  let lists: ListsClient

  init(in surroundings: Surroundings) {
    groups = GroupsClient(in: surroundings)
    lists = ListsClient(in: surroundings)
  }

  /// What it is called; nil when it is not there any more.
  func name(of invite: Invite) async throws -> String? {
    // Whose standing is asked for does not matter for the name.
    let anybody = invite.inviter ?? UserID(invite.id.uuid)
    return switch invite.destination {
    case .collection(let id): try await groups.standing(of: anybody, in: id)?.collectionName
    case .group(let id): try await groups.standing(of: anybody, in: id)?.groupName
    case .list(let id): try await lists.role(of: anybody, in: id)?.list.name
    }
  }

  /// Whether the user could come in, as far as can be told before they take up the invite. That it is not there any more
  /// is found out by joining.
  func welcome(_ user: UserID, by invite: Invite) async throws -> Welcome {
    switch invite.destination {
    // Who is in a collection accepts all the same.
    case .collection: return .open
    case .group(let id):
      guard let standing = try await groups.standing(of: user, in: id) else { return .open }
      if standing.isActive { return .refused(.notLetIn(.alreadyMember)) }
      return standing.seatsLeft > 0 ? .open : .refused(.notLetIn(.full))
    case .list(let id):
      if let role = try await lists.role(of: user, in: id)?.role {
        return .refused(role == "owner" ? .ownsIt : .notLetIn(.alreadyMember))
      }
      guard let inviter = invite.inviter else { return .open }
      let isApart = try await groups.relations(of: user, to: [inviter]).blocked.contains(inviter)
      return isApart ? .refused(.notLetIn(.blocked)) : .open
    }
  }

  /// Lets the user in. The same claim again has the same outcome.
  ///
  /// - Throws: ``JoinRefusal/gone``, or what stands in the way of an answer.
  func join(_ user: UserID, by invite: Invite, _ claim: ClaimID) async throws -> Arrival {
    do {
      switch invite.destination {
      case .collection(let id):
        let role = invite.role.flatMap(CollectionRole.init) ?? .viewOnly
        let joined = try await groups.join(id, user, by: invite.joining(claim, as: role))
        return Arrival(outcome: joined.outcome, role: joined.role?.rawValue)
      case .group(let id):
        let joined = try await groups.join(id, user, by: invite.joining(claim))
        return Arrival(outcome: joined.outcome, name: joined.groupName)
      case .list(let id):
        let join = JoinList(
          inviteID: invite.id.description, claimID: claim, invitedBy: invite.inviter, madeAt: invite.createdAt,
          role: invite.role ?? "viewer")
        let joined = try await lists.join(id, user, by: join)
        return Arrival(
          outcome: joined.outcome == .joined ? .joined : .alreadyMember, role: joined.role, list: joined)
      }
    } catch let failure as Failure where failure.kind == .notFound {
      throw JoinRefusal.gone
    } catch let failure as Failure {
      guard let outcome = JoinOutcome(toList: failure) else { throw failure }
      return Arrival(outcome: outcome)
    }
  }
}

extension Invite {
  fileprivate func joining(_ claim: ClaimID, as role: CollectionRole? = nil) -> JoinByInvite {
    JoinByInvite(
      inviteID: id, claimID: claim, invitedBy: inviter, madeAt: createdAt, isLink: way == .link, role: role)
  }
}

extension JoinOutcome {
  /// A refusal in the words of lists; nil for trouble that may pass.
  fileprivate init?(toList failure: Failure) {
    switch failure.code {
    case "list_full": self = .full
    case "in_too_many_lists": self = .tooManyLists
    case "member_removed": self = .removed
    case "blocked": self = .blocked
    case "invite_lapsed": self = .lapsed
    default: return nil
    }
  }
}

extension Arrival {
  /// Who is in a collection already, and at least as what the invite says, has accepted it all the same.
  func refusal(of invite: Invite) -> JoinRefusal? {
    switch (outcome, invite.destination) {
    case (.joined, _), (.alreadyMember, .collection): nil
    case (.alreadyMember, .list) where role == "owner": .ownsIt
    case (.lapsed, _): .lapsed
    default: .notLetIn(outcome)
    }
  }
}
