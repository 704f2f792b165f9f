import Database
import Foundation
import Support
import Testing

@testable import Postgres

/// Whose certificates a connection accepts when its URL names no file of authorities.
@Suite struct TrustedAuthoritiesTests {
  /// Runs `body` with a home folder and a bundle of certificates.
  private func withFiles(_ body: (_ home: URL, _ bundle: String) throws -> Void) throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "kith-home-\(UUID())")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    // `try?`: a leftover folder does no harm.
    defer { try? FileManager.default.removeItem(at: home) }
    let bundle = home.appending(path: "bundle.crt")
    try Data().write(to: bundle)
    try body(home, bundle.path)
  }

  @Test(
    arguments: [
      ("postgresql://a/b?sslmode=verify-full", [:], true),
      ("postgresql://a,c:1/b?target_session_attrs=read-write&sslmode=verify-full", [:], true),
      ("postgresql://a/b", ["PGSSLMODE": "verify-full"], true),
      ("postgresql://a/b?sslmode=require", ["PGSSLMODE": "verify-full"], false),
      ("postgresql://a/b", [:], false),
      // With all authorities of the system, a check that accepts every name would accept anybody.
      ("postgresql://a/b?sslmode=verify-ca", [:], false),
      ("postgresql://a/b?sslmode=verify-full&sslrootcert=/mine.crt", [:], false),
      ("postgresql://a/b?sslmode=verify-full", ["PGSSLROOTCERT": "/mine.crt"], false),
      ("postgresql://a/b?sslmode", [:], false),
    ] as [(String, [String: String], Bool)])
  func theSystemsAreTrustedWhereTheURLNamesNone(
    url: String, variables: [String: String], areTrusted: Bool
  ) throws {
    try withFiles { home, bundle in
      let environment = variables.merging(["HOME": home.path]) { $1 }
      let authorities = TrustedAuthorities(environment: environment, bundles: ["/nowhere/bundle.crt", bundle])
      #expect(authorities.file(for: url) == (areTrusted ? bundle : nil))
      #expect(TrustedAuthorities(environment: environment, bundles: []).file(for: url) == nil)
    }
  }

  @Test func theUsersOwnFileComesFirst() throws {
    try withFiles { home, bundle in
      let authorities = TrustedAuthorities(environment: ["HOME": home.path], bundles: [bundle])
      let url = "postgresql://a/b?sslmode=verify-full"
      #expect(authorities.file(for: url) == bundle)
      let folder = home.appending(path: ".postgresql")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      try Data().write(to: folder.appending(path: "root.crt"))
      #expect(authorities.file(for: url) == nil)
    }
  }

  @Test(
    .enabled(if: postgresURL != nil),
    .enabled(if: TrustedAuthorities().file(for: "postgresql://a/b?sslmode=verify-full") != nil))
  func aCertificateOfNoKnownAuthorityIsRefused() async throws {
    try await withPostgresServer(tls: true) { postgresServer in
      let url = postgresServer.url + "?sslmode=verify-full"
      let database = try Postgres(url: url, schema: "test", connections: 1, logger: quiet)
      let failure = await #expect(throws: DatabaseFailure.self) {
        _ = try await database.read { try $0.rows("select 1") }
      }
      await database.close()
      // Not that there is no file of authorities.
      #expect("\(String(describing: failure))".contains("certificate verify failed"), "\(String(describing: failure))")
    }
  }
}
