import Clients
import Foundation
import Web
import Wire

/// Calls the services that own the targets of invites: groups for groups and collections, lists for lists.
struct JoinTargetClient: Sendable {
  let groups: GroupsClient
  let lists: ListsClient

  init(in dependencies: Dependencies) {
    groups = GroupsClient(in: dependencies)
    lists = ListsClient(in: dependencies)
  }

  /// The name of an invite's target; nil when the target does not exist any more.
  func name(of invite: Invite) async throws -> String? {
    // The name is the same whichever user the call is for.
    let user = invite.inviter ?? UserID(invite.id.uuid)
    return switch invite.target {
    case .collection(let id): try await groups.membership(of: user, in: id)?.collectionName
    case .group(let id): try await groups.membership(of: user, in: id)?.groupName
    case .list(let id): try await lists.membership(of: user, in: id)?.list.name
    }
  }

  /// The group that a code opens; nil when it opens none.
  func group(ofCode code: InviteToken) async throws -> GroupOfCode? { try await groups.group(ofCode: code.text) }

  /// The user's membership of a group; nil stands for text that is not a group's id.
  ///
  /// - Throws: 403 for everyone but active members, also when there is no such group.
  func activeMembership(of user: UserID, in group: GroupID?) async throws -> GroupMembership {
    guard let group, let membership = try await groups.membership(of: user, in: group), membership.isActive else {
      throw Failure.notInGroup
    }
    return membership
  }

  /// Whether the user could join, as far as it can be known before a use is claimed. A missing target is found by
  /// ``join(_:by:_:)``.
  func eligibility(of user: UserID, for invite: Invite) async throws -> JoinEligibility {
    switch invite.target {
    // Members of a collection may accept another invite to it.
    case .collection: return .eligible
    case .group(let id):
      guard let membership = try await groups.membership(of: user, in: id) else { return .eligible }
      if membership.isActive { return .refused(.rejectedByTarget(.alreadyMember)) }
      return membership.seatsLeft > 0 ? .eligible : .refused(.rejectedByTarget(.full))
    case .list(let id):
      if let role = try await lists.membership(of: user, in: id)?.role {
        return .refused(role == ListRole.owner.rawValue ? .alreadyOwner : .rejectedByTarget(.alreadyMember))
      }
      guard let inviter = invite.inviter else { return .eligible }
      let isBlocked = try await groups.relations(of: user, to: [inviter]).blocked.contains(inviter)
      return isBlocked ? .refused(.rejectedByTarget(.blocked)) : .eligible
    }
  }

  /// Adds the user to the target. Safe to repeat: the same claim has the same outcome.
  ///
  /// - Throws: ``JoinRefusal/targetNotFound``; any other failure when the outcome is not known.
  func join(_ user: UserID, by invite: Invite, _ claim: ClaimID) async throws -> JoinResult {
    do {
      switch invite.target {
      case .collection(let id):
        let role = invite.role.flatMap(CollectionRole.init) ?? .viewOnly
        let joined = try await groups.join(id, user, by: invite.joining(claim, as: role))
        return JoinResult(outcome: joined.outcome, role: joined.role?.rawValue)
      case .group(let id):
        let joined = try await groups.join(id, user, by: invite.joining(claim))
        return JoinResult(outcome: joined.outcome, name: joined.groupName)
      case .list(let id):
        let join = JoinList(
          inviteID: invite.id.description, claimID: claim, invitedBy: invite.inviter, madeAt: invite.createdAt,
          role: invite.role ?? ListRole.viewer.rawValue)
        let joined = try await lists.join(id, user, by: join)
        return JoinResult(
          outcome: joined.outcome == .joined ? .joined : .alreadyMember, role: joined.role, list: joined)
      }
    } catch let failure as Failure where failure.kind == .notFound {
      throw JoinRefusal.targetNotFound
    } catch let failure as Failure {
      guard let outcome = JoinOutcome(toList: failure) else { throw failure }
      return JoinResult(outcome: outcome)
    }
  }
}

extension Failure {
  /// The app shows this message to users.
  static let notInGroup = Failure(.forbidden, "not_a_member", "Not a member of this group")
}

extension Invite {
  fileprivate func joining(_ claim: ClaimID, as role: CollectionRole? = nil) -> JoinByInvite {
    JoinByInvite(
      inviteID: id, claimID: claim, invitedBy: inviter, madeAt: createdAt, isLink: channel == .link, role: role)
  }
}

extension JoinOutcome {
  /// The outcome that a failure of the lists service stands for; nil for a failure that may be temporary.
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

extension JoinResult {
  /// The refusal to report; nil when the user has joined. A member of a collection has accepted the invite all the
  /// same.
  func refusal(of invite: Invite) -> JoinRefusal? {
    switch (outcome, invite.target) {
    case (.joined, _), (.alreadyMember, .collection): nil
    case (.alreadyMember, .list) where role == ListRole.owner.rawValue: .alreadyOwner
    case (.lapsed, _): .inviterLacksPermission
    default: .rejectedByTarget(outcome)
    }
  }
}
