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

  /// Lets the user in. The same invite and user again have the same outcome.
  ///
  /// - Throws: ``JoinRefusal/gone``, or what stands in the way of an answer.
  func join(_ user: UserID, by invite: Invite) async throws -> Arrival {
    do {
      switch invite.destination {
      case .collection(let id):
        let join = JoinByInvite(
          inviteID: invite.id, invitedBy: invite.inviter,
          role: invite.role.flatMap(CollectionRole.init) ?? .viewOnly)
        let joined = try await groups.join(id, user, by: join)
        return Arrival(outcome: joined.outcome, role: joined.role?.rawValue)
      case .group(let id):
        let joined = try await groups.join(id, user, by: .init(inviteID: invite.id, invitedBy: invite.inviter))
        return Arrival(outcome: joined.outcome, name: joined.groupName)
      case .list(let id):
        let join = JoinList(inviteID: invite.id.description, role: invite.role ?? "viewer")
        let joined = try await lists.join(id, user, by: join)
        return Arrival(
          outcome: joined.outcome == .joined ? .joined : .alreadyMember, role: joined.role, list: joined)
      }
    } catch let failure as Failure where failure.kind == .notFound {
      throw JoinRefusal.gone
    } catch let failure as Failure where failure.code == "list_full" {
      return Arrival(outcome: .full)
    }
  }
}

extension Arrival {
  /// Who is in a collection already, and at least as what the invite says, has accepted it all the same.
  func refusal(of invite: Invite) -> JoinRefusal? {
    switch (outcome, invite.destination) {
    case (.joined, _), (.alreadyMember, .collection): nil
    case (.alreadyMember, .list) where role == "owner": .ownsIt
    default: .notLetIn(outcome)
    }
  }
}
