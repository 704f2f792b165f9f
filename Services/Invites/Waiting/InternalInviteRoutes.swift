import Clients
import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Invites that other services ask for in the name of a user.
struct InternalInviteRoutes: Sendable {
  let waiting: WaitingInvites
  let texts: TextInvites
  let destinations: Destinations
  let users: UsersClient
  let links: AppLinks
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    // Each a group of its own: what is added to one holds for all of its routes.
    routes.group(context: ServiceCaller.self).add(middleware: Admits(["lists"]))
      .post("/internal/invites/lists", use: inviteToList)
    routes.group(context: ServiceCaller.self).add(middleware: Admits(["groups"]))
      .post("/internal/invites/texts", use: text)
  }

  @Sendable private func inviteToList(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let asked = try await request.json(InviteToList.self)
    guard ["viewer", "editor"].contains(asked.role) else {
      throw Failure.invalid(.init("role", "must be viewer or editor"))
    }
    guard asked.list > 0 else { throw Failure.invalid(.init("list", "must be 1 or more")) }
    if case .email(let email) = asked.invitee, !(3...254).contains(email.utf8.count) || !email.contains("@") {
      throw Failure.invalid(.init("invitee.email", "must be an e-mail address"))
    }
    let made = try await waiting.make(asked, at: now())
    guard let number = made.invite.number else { throw Failure.broken }
    return .exactJSON(
      ListInvitation(
        number: number, code: made.code.text, url: links.page(ofCode: made.code), role: asked.role,
        createdAt: made.invite.createdAt, expiresAt: made.invite.expiresAt))
  }

  /// Safe to repeat: who was invited to this group within a day is left out.
  @Sendable private func text(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let asked = try await request.json(TextToGroup.self)
    let number = try PhoneNumber.required(asked.number, field: "number")
    guard let group = try await destinations.groups.standing(of: asked.invitedBy, in: asked.group), group.isActive
    else { throw Failure.notInGroup }
    guard let sender = try await users.people([asked.invitedBy])[asked.invitedBy], sender.isProven else {
      throw Failure.notProven
    }
    let letter = TextInvites.Letter(
      group: group, sender: Asker(user: asked.invitedBy, place: asked.place), senderName: sender.firstName,
      numbers: [.init(asked: asked.number, number: number)])
    let now = now()
    let sent = try await texts.invites.database.write { [texts] db in try texts.write(letter, at: now, on: db) }
    texts.outbox.ring()
    return .exactJSON(TextedToGroup(isSent: !sent.isEmpty))
  }
}
