import Clients
import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Creates invites that other services request for a user: lists to e-mail addresses and users, groups to phone
/// numbers.
struct InternalInviteRoutes: Sendable {
  let directInvites: DirectInviteStore
  let textInvites: TextInviteStore
  let joinTargetClient: JoinTargetClient
  let users: UsersClient
  let links: AppLinks
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    // One route group each: a middleware that is added to a group applies to all of its routes.
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["lists"]))
      .post("/internal/invites/lists", use: inviteToList)
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["groups"]))
      .post("/internal/invites/texts", use: text)
  }

  @Sendable private func inviteToList(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(InviteToList.self)
    guard Invite.listRoles.contains(body.role) else {
      throw Failure.invalid(.init("role", "must be viewer or editor"))
    }
    guard body.list > 0 else { throw Failure.invalid(.init("list", "must be 1 or more")) }
    if case .email(let email) = body.invitee, !(3...254).contains(email.utf8.count) || !email.contains("@") {
      throw Failure.invalid(.init("invitee.email", "must be an e-mail address"))
    }
    let link = try await directInvites.create(body, at: now())
    guard let number = link.invite.number else { throw Failure.broken }
    return .exactJSON(
      ListInvitation(
        number: number, code: link.code.text, url: links.pageURL(ofCode: link.code), role: body.role,
        createdAt: link.invite.createdAt, expiresAt: link.invite.expiresAt))
  }

  /// Safe to repeat: a number that was invited to this group within a day is skipped.
  @Sendable private func text(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(TextInvitationRequest.self)
    let number = try PhoneNumber.required(body.number, field: "number")
    let group = try await joinTargetClient.activeMembership(of: body.invitedBy, in: body.group)
    guard let sender = try await users.people([body.invitedBy])[body.invitedBy], sender.isProven else {
      throw Failure.notProven
    }
    let batch = TextInviteStore.Batch(
      group: group, sender: Requester(user: body.invitedBy, clientAddress: body.clientAddress),
      senderName: sender.firstName,
      recipients: [.init(input: body.number, number: number)])
    let now = now()
    let sent = try await textInvites.invites.database.write { [textInvites] db in
      try textInvites.create(batch, at: now, on: db)
    }
    textInvites.outbox.wakeUp()
    return .exactJSON(TextInvitationResult(isSent: !sent.isEmpty))
  }
}
