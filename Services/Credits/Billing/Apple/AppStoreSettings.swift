import Clients
import Foundation
import SwiftASN1
import Tokens
import Web
import X509

/// The configuration of Apple purchases.
struct AppStoreSettings: Sendable {
  let verifier: AppStoreVerifier
  /// nil when no key for the App Store Server API is configured.
  let server: AppStoreServerKey?
}

/// Apple purchases, or what is missing for them.
enum AppStoreConfiguration: Sendable {
  case complete(AppStoreSettings)
  /// The names of variables that are not set.
  case missing([String])
}

extension Settings {
  /// - Throws: ``StartFailure`` that names an invalid variable. One that is missing does not stop the start: a server
  ///   without Apple purchases needs none.
  func appStore() throws -> AppStoreConfiguration {
    let isProduction = try stage() == .production
    let environments = try appStoreEnvironments(default: isProduction ? [.production] : [.production, .sandbox])
    let roots = try list("APPLE_ROOT_CERTIFICATES").flatMap(Self.certificates)
    let appIDs = try list("APPLE_APP_STORE_ID").map { text in
      guard let id = Int(text), id > 0 else { throw StartFailure("APPLE_APP_STORE_ID must be the number of an app") }
      return id
    }
    let apps = AppStoreApps(
      bundleIDs: Set(list("APPLE_BUNDLE_ID")), appIDs: Set(appIDs), environments: environments)
    let server = try appStoreServerKey()
    var missing: [String] = []
    if roots.isEmpty { missing.append("APPLE_ROOT_CERTIFICATES") }
    if apps.bundleIDs.isEmpty { missing.append("APPLE_BUNDLE_ID") }
    if isProduction, environments.contains(.production), appIDs.isEmpty { missing.append("APPLE_APP_STORE_ID") }
    guard missing.isEmpty else { return .missing(missing) }
    let verifier = AppStoreVerifier(certificates: CertificateChainVerifier(roots: roots), apps: apps)
    return .complete(AppStoreSettings(verifier: verifier, server: server))
  }

  private func appStoreEnvironments(default fallback: Set<AppStoreEnvironment>) throws -> Set<AppStoreEnvironment> {
    let names = list("APPLE_STORE_ENVIRONMENTS")
    guard !names.isEmpty else { return fallback }
    return try Set(
      names.map { name in
        guard let environment = AppStoreEnvironment(rawValue: name) else {
          throw StartFailure("APPLE_STORE_ENVIRONMENTS must be Production, Sandbox or both")
        }
        return environment
      })
  }

  /// The certificates in a file, or in the files of a folder.
  private static func certificates(at path: String) throws -> [Certificate] {
    do {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
        return try certificates(in: Data(contentsOf: URL(filePath: path)))
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter { name in
        [".pem", ".cer", ".crt", ".der"].contains { name.lowercased().hasSuffix($0) }
      }
      guard !files.isEmpty else { throw CocoaError(.fileReadNoSuchFile) }
      return try files.flatMap { try certificates(in: Data(contentsOf: URL(filePath: path).appending(path: $0))) }
    } catch {
      throw StartFailure("APPLE_ROOT_CERTIFICATES: \(path) has no certificates in PEM or DER that can be read")
    }
  }

  private static func certificates(in data: Data) throws -> [Certificate] {
    let text = String(decoding: data, as: UTF8.self)
    guard text.contains("-----BEGIN") else { return [try Certificate(derEncoded: Array(data))] }
    return try PEMDocument.parseMultiple(pemString: text).map { try Certificate(pemDocument: $0) }
  }

  /// nil when none of the three variables is set.
  private func appStoreServerKey() throws -> AppStoreServerKey? {
    let names = ["APPLE_IAP_ISSUER_ID", "APPLE_IAP_KEY_ID", "APPLE_IAP_PRIVATE_KEY"]
    let values = names.compactMap(nonempty)
    guard !values.isEmpty else { return nil }
    let missing = names.filter { nonempty($0) == nil }
    guard missing.isEmpty else {
      throw StartFailure("the App Store Server API is half configured: \(missing.joined(separator: ", ")) is not set")
    }
    let production = string("APPLE_SERVER_API_URL", default: "https://api.storekit.apple.com")
    let sandbox = string("APPLE_SERVER_API_SANDBOX_URL", default: "https://api.storekit-sandbox.apple.com")
    for (name, url) in [("APPLE_SERVER_API_URL", production), ("APPLE_SERVER_API_SANDBOX_URL", sandbox)] {
      guard WebAddress.isSafe(url) else { throw StartFailure("\(name) must be an https address") }
    }
    return try AppStoreServerKey(
      issuer: values[0], keyID: values[1], pem: values[2], urls: [.production: production, .sandbox: sandbox])
  }
}
