import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The web page of an invite, for phones without the app: the inviter, the target, the expiry, and buttons that open
/// the app or the App Store.
struct InvitePageRoutes: Sendable {
  let invites: InviteStore
  let joinTargetClient: JoinTargetClient
  let attemptLimiter: CodeAttemptLimiter
  let users: UsersClient
  let links: AppLinks
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.get("/invite/{token}", use: byToken)
    routes.get("/i/{code}", use: byCode)
    routes.get("/i/{code}/qr.svg", use: svg)
    routes.get("/i/{code}/qr.png", use: png)
  }

  @Sendable private func byToken(_ request: Request, _ context: Context) async throws -> Response {
    await page(context) {
      guard let token = InviteToken(token: context.parameters.get("token") ?? ""),
        let invite = try await invites.invite(for: token)
      else { return InvitePageContent(state: .notFound) }
      return try await content(of: invite, deepLink: links.deepLink(of: token), url: links.pageURL(of: token))
    }
  }

  @Sendable private func byCode(_ request: Request, _ context: Context) async throws -> Response {
    let clientAddress = request.clientAddress
    return await page(context) {
      switch try await target(ofCode: context.parameters.get("code") ?? "", from: clientAddress) {
      case .invite(let invite, let code)?:
        return try await content(
          of: invite, deepLink: links.deepLink(ofCode: code), url: links.pageURL(ofCode: code), code: code.text)
      case .group(let group, let code)?: return try await content(of: group, code)
      case nil: return InvitePageContent(state: .notFound)
      }
    }
  }

  /// What a code opens.
  enum CodeTarget: Sendable {
    case invite(Invite, InviteToken)
    case group(GroupOfCode, InviteToken)

    var code: InviteToken {
      switch self {
      case .invite(_, let code), .group(_, let code): code
      }
    }
  }

  /// What a code of an invite, or of a group, opens a page of. Codes are short, so failed lookups are limited by client
  /// address: the group is looked up whether the limit is reached or not, and returned only when it is not.
  ///
  /// - Throws: 429 after too many.
  func target(ofCode text: String, from clientAddress: String) async throws -> CodeTarget? {
    let (code, now) = (InviteToken(code: text), now())
    let group: GroupOfCode? = if let code { try await joinTargetClient.group(ofCode: code) } else { nil }
    let found = try await invites.database.write { [invites, attemptLimiter] db in
      try attemptLimiter.limited(from: clientAddress, at: now, on: db) { () -> CodeTarget? in
        guard let code else { return nil }
        return try InviteStore.find(code, invites.keys, on: db).map { .invite($0, code) }
          ?? group.map { .group($0, code) }
      }
    }
    if case .invite(let invite, _)? = found, invite.target.kind == .collection { return nil }
    return found
  }

  /// A group's own code does not expire; its owner invites.
  private func content(of group: GroupOfCode, _ code: InviteToken) async throws -> InvitePageContent {
    let owners = Set([group.owner].compactMap(\.self))
    let inviter = try await users.names(of: owners).values.first
    return InvitePageContent(
      state: .open, kind: .group, name: group.groupName, inviter: inviter?.shortName ?? "",
      deepLink: links.deepLink(ofCode: code), url: links.pageURL(ofCode: code), code: code.text)
  }

  private func content(
    of invite: Invite, deepLink: String, url: String, code: String? = nil
  ) async throws -> InvitePageContent {
    guard let id = invite.inviter, let name = try await joinTargetClient.name(of: invite) else {
      return InvitePageContent(state: .revoked)
    }
    let inviter = try await users.names(of: [id])[id]
    let state: InvitePageContent.State =
      switch invite.state(at: now()) {
      case .pending: invite.isUsedUp ? .used : .open
      case .expired: .expired
      case .revoked: .revoked
      case .accepted, .rejected: .used
      }
    return InvitePageContent(
      state: state, kind: invite.target.kind, name: name, inviter: inviter?.shortName ?? "", deepLink: deepLink,
      url: url, code: code, expiresAt: invite.expiresAt)
  }

  /// Answers with a page also for errors, because people read it.
  private func page(_ context: Context, _ load: () async throws -> InvitePageContent) async -> Response {
    let content: InvitePageContent
    do { content = try await load() } catch {
      let failure = Failure(describing: error, logger: context.logger)
      let content = InvitePageContent(state: failure.kind == .limited ? .rateLimited : .unavailable)
      var response = InvitePageHTML.response(content, links)
      response.headers[.retryAfter] = String(failure.retryAfterSeconds ?? 1)
      return response
    }
    return InvitePageHTML.response(content, links)
  }
}

/// The data that the page of an invite shows.
struct InvitePageContent: Sendable {
  enum State: Sendable {
    case open, expired, used, revoked, notFound, rateLimited, unavailable
  }

  let state: State
  var kind = JoinTarget.Kind.collection
  var name = ""
  var inviter = ""
  var deepLink = ""
  var url = ""
  var code: String?
  var expiresAt: Date?
}
