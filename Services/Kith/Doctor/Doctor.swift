import Foundation
import Web

/// Says in plain words what is wrong with an installation, and what to do about it. Changes nothing.
struct Doctor {
  let settings: Settings
  let now: @Sendable () -> Date

  /// The findings in the order in which to read them.
  func findings() async -> [Finding] {
    let configuration = await ConfigurationCheck(settings: settings).findings()
    async let storage = StorageCheck(settings: settings).findings()
    async let ports = PortCheck(settings: settings).findings()
    async let providers = ProviderCheck(settings: settings, now: now).findings()
    return await configuration + storage + ports + providers
  }

  /// Prints the findings.
  ///
  /// - Throws: ``StartFailure`` when there is a problem, so that the exit code is 1.
  func run() async throws {
    let findings = await findings()
    for finding in findings { print(finding.lines) }
    let count = findings.count { $0.severity == .problem }
    guard count == 0 else { throw StartFailure(count == 1 ? "one problem" : "\(count) problems") }
  }
}
