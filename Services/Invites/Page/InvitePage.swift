import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// What a phone shows that has no app yet: who invites, to what, until when, and the two ways on.
struct InvitePage: Sendable {
  let invites: InviteStore
  let destinations: Destinations
  let tries: CodeTries
  let users: UsersClient
  let links: AppLinks
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/invite/{token}", use: byToken)
    routes.get("/i/{code}", use: byCode)
  }

  @Sendable private func byToken(_ request: Request, _ context: Context) async throws -> Response {
    await page(context) {
      guard let token = Secret(token: context.parameters.get("token") ?? ""),
        let invite = try await invites.invite(openedBy: token)
      else { return Sight(state: .unknown) }
      return try await sight(of: invite, deepLink: links.deepLink(of: token), url: links.page(of: token))
    }
  }

  /// Codes are short: looks that find nothing are counted by where they come from.
  @Sendable private func byCode(_ request: Request, _ context: Context) async throws -> Response {
    let place = request.place
    return await page(context) {
      let (code, now) = (Secret(code: context.parameters.get("code") ?? ""), now())
      let found = try await invites.database.write { [invites, tries] db in
        try tries.counted(from: place, at: now, on: db) {
          try code.flatMap { try InviteStore.find($0, invites.keys, on: db) }
        }
      }
      guard let code, let found, found.destination.kind != .collection else { return Sight(state: .unknown) }
      return try await sight(
        of: found, deepLink: links.deepLink(ofCode: code), url: links.page(ofCode: code), code: code.text)
    }
  }

  private func sight(of invite: Invite, deepLink: String, url: String, code: String? = nil) async throws -> Sight {
    guard let id = invite.inviter, let name = try await destinations.name(of: invite) else {
      return Sight(state: .takenBack)
    }
    let inviter = try await users.names(of: [id])[id]
    let state: Sight.State =
      switch invite.state(at: now()) {
      case .pending: invite.isUsedUp ? .over : .open
      case .expired: .expired
      case .revoked: .takenBack
      case .accepted, .rejected: .over
      }
    return Sight(
      state: state, kind: invite.destination.kind, name: name, inviter: inviter?.shortName ?? "", deepLink: deepLink,
      url: url, code: code, expiresAt: invite.expiresAt)
  }

  /// A person reads it, whatever happens: trouble is told in words, too.
  private func page(_ context: Context, _ look: () async throws -> Sight) async -> Response {
    let sight: Sight
    do { sight = try await look() } catch {
      let failure = Failure(describing: error, logger: context.logger)
      var response = PageText.response(Sight(state: failure.kind == .limited ? .tooOften : .away), links)
      response.headers[.retryAfter] = String(failure.retryAfterSeconds ?? 1)
      return response
    }
    return PageText.response(sight, links)
  }
}

/// What there is to see of an invite.
struct Sight: Sendable {
  enum State: Sendable {
    case open, expired, over, takenBack, unknown, tooOften, away
  }

  let state: State
  var kind = Destination.Kind.collection
  var name = ""
  var inviter = ""
  var deepLink = ""
  var url = ""
  var code: String?
  var expiresAt: Date?
}
