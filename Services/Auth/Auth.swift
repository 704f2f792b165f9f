import Clients
import Foundation
import Tokens
import Web
import Wire

/// The auth service: where everything meets.
package func buildAuth(_ surroundings: Surroundings) async throws -> Server {
  let settings = surroundings.settings
  let now = surroundings.now
  let tokenKeys = try TokenKeys(settings, logger: surroundings.logger)
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let mint = Mint(issuer: try tokenKeys.issuer(), lifetimes: try Lifetimes(settings))
  let apple = try appleSignIn(settings)

  let database = try await surroundings.openDatabase(for: "auth", authMigrations)
  let accounts = AccountStore(database: database)
  let sessions = SessionStore(database: database, mint: mint)
  let signIns = SignIns(in: surroundings.registry)
  let ended = EndedSessionList()
  let eraseAfterDays = try settings.int("ACCOUNT_ERASE_AFTER_DAYS", default: 30, in: 0...3650)
  let erasures = Erasures(
    store: ErasureStore(database: database), after: .seconds(eraseAfterDays * 86_400), in: surroundings)
  let feed = EndedSessionsFeed(list: ended, in: surroundings) { cursor in
    try await sessions.ended(since: cursor, at: now())
  }
  let callers = Callers(keys: serviceKeys, verifier: Verifier(tokenKeys.ring), ended: ended, now: now) { name in
    try await accounts.active(knownAs: name)?.id
  }
  return try Server(
    .auth, in: surroundings, database: database, callers: callers,
    api: OpenAPI(yaml: PackageResources.openapi_yaml), background: [tokenKeys, feed, erasures],
    isReady: { ended.isKnown }
  ) { routes in
    SignInRoutes(
      accounts: accounts, mint: mint, apple: apple, adminKey: adminKey, signIns: signIns, now: now
    ).add(to: routes)
    SessionRoutes(sessions: sessions, ended: ended, signIns: signIns, now: now).add(to: routes)
    AccountRoutes(accounts: accounts, erasures: erasures, ended: ended, now: now).add(to: routes)
    ExportRoutes(store: ExportStore(database: database)) { UserDataClient.others(than: .auth, in: surroundings) }
      .add(to: routes)
    PeopleRoutes(people: PeopleStore(database: database)).add(to: routes)
    ServiceRoutes(accounts: accounts, sessions: sessions, ring: tokenKeys.ring, now: now).add(to: routes)
  }
}

private func appleSignIn(_ settings: Settings) throws -> SignInWithApple {
  let url = settings.string("APPLE_JWKS_URL", default: "https://appleid.apple.com/auth/keys")
  return SignInWithApple(
    audiences: Set(settings.list("APPLE_BUNDLE_ID")),
    keys: RemoteKeys { try await Verification.keySet(at: url) })
}

extension Lifetimes {
  init(_ settings: Settings) throws {
    let minutes = try settings.int("JWT_ACCESS_EXPIRE_MINUTES", default: 15, in: 1...1440)
    let days = try settings.int("JWT_REFRESH_EXPIRE_DAYS", default: 30, in: 1...365)
    let grace = try settings.int("REFRESH_REUSE_GRACE_SECONDS", default: 0, in: 0...60)
    self.init(access: .seconds(minutes * 60), refresh: .seconds(days * 86_400), reuseGrace: .seconds(grace))
  }
}
