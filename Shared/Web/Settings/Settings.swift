import Configuration
import Foundation
import SystemPackage
import Wire

/// The environment variables, with the names in `.env.example`. A variable that is set but empty is not unset.
package struct Settings: Sendable {
  private let layers: [EnvironmentVariablesProvider]

  /// The process's environment, which overrides the `.env` file in the working directory.
  package static func read() async throws -> Settings {
    let file = try await EnvironmentVariablesProvider(environmentFilePath: ".env", allowMissing: true)
    return Settings(layers: [EnvironmentVariablesProvider(), file])
  }

  package init(_ values: [String: String]) {
    self.init(layers: [EnvironmentVariablesProvider(environmentVariables: values)])
  }

  private init(layers: [EnvironmentVariablesProvider]) { self.layers = layers }

  /// A copy in which `values` override all others.
  package func overlaid(_ values: [String: String]) -> Settings {
    Settings(layers: [EnvironmentVariablesProvider(environmentVariables: values)] + layers)
  }

  /// A copy with `values` for variables that are not set.
  package func defaulting(_ values: [String: String]) -> Settings {
    Settings(layers: layers + [EnvironmentVariablesProvider(environmentVariables: values)])
  }

  package func string(_ name: String) -> String? {
    for layer in layers {
      // `try?`: reading a variable as a string does not fail.
      if let value = try? layer.environmentValue(forName: name) { return value }
    }
    return nil
  }

  package func string(_ name: String, default fallback: String) -> String { nonempty(name) ?? fallback }

  /// `PUBLIC_URL` without a slash at the end: where apps reach the gateway.
  package var publicOrigin: String {
    let url = string("PUBLIC_URL", default: "http://127.0.0.1:8080")
    return url.hasSuffix("/") ? String(url.dropLast()) : url
  }

  /// The value; nil when it is unset or empty.
  package func nonempty(_ name: String) -> String? { string(name).flatMap { $0.isEmpty ? nil : $0 } }

  /// The comma-separated parts, without the spaces around them and without empty ones.
  package func list(_ name: String) -> [String] {
    string(name, default: "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }

  package func int(_ name: String, default fallback: Int, in range: ClosedRange<Int>) throws -> Int {
    guard let text = nonempty(name) else { return fallback }
    guard let value = Int(text), range.contains(value) else {
      throw StartFailure("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  package func bool(_ name: String, default fallback: Bool) throws -> Bool {
    guard let text = nonempty(name) else { return fallback }
    switch text.lowercased() {
    case "true", "1", "yes", "on": return true
    case "false", "0", "no", "off": return false
    default: throw StartFailure("\(name) must be true or false")
    }
  }

  package enum Stage: String, Sendable { case development, staging, production }

  package func stage() throws -> Stage {
    guard let stage = Stage(rawValue: string("ENVIRONMENT", default: "development").lowercased()) else {
      throw StartFailure("ENVIRONMENT must be development, staging or production")
    }
    return stage
  }

  /// A required secret. In production it must also be strong enough.
  ///
  /// - Throws: ``StartFailure`` that names the variable, never its value.
  package func secret(_ name: String) throws -> String {
    guard let secret = nonempty(name) else { throw StartFailure("\(name) is not set; `make env` writes a .env") }
    try requireStrength(of: secret, in: name)
    return secret
  }

  /// Requires in production that a secret has 32 bytes or more and is not a sample.
  package func requireStrength(of secret: String, in name: String) throws {
    guard try stage() == .production else { return }
    if secret.utf8.count < 32 { throw StartFailure("\(name) is shorter than 32 bytes") }
    if Set(secret.utf8).count < 10 || secret.lowercased().contains("change-me") {
      throw StartFailure("\(name) is a sample, not a secret")
    }
  }
}

/// Why a process cannot start, as one line for its operator.
package struct StartFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
