import Database
import Foundation
import Logging
import ServiceLifecycle

/// The body of every `main.swift`: reads the configuration, builds the service, serves until SIGTERM or SIGINT. A start
/// that fails writes the reason as one line to standard error and exits with 1.
package func serve(_ name: String, _ build: (Dependencies) async throws -> any Service) async {
  // To write to a pipe that nobody reads any more is an error, not the end of the process.
  signal(SIGPIPE, SIG_IGN)
  AvailableCores.limitEventLoops()
  do {
    let settings = try await Settings.read()
    try StandardOutputLogHandler.bootstrap(settings, process: name)
    let logger = Logger(label: name)
    let service = try await build(Dependencies(settings, logger: logger))
    try await ServiceGroup(
      services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger.warningsOnly
    ).run()
  } catch {
    let program = name == "kith" ? name : "kith-\(name)"
    // `try?`: without a reader there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(program): \(singleLine(error))\n".utf8))
    exit(1)
  }
}

private func singleLine(_ error: any Error) -> String {
  let text =
    switch error {
    case let failure as StartFailure: failure.description
    case DatabaseFailure.unusable(let reason): reason
    default: String(describing: error)
    }
  return text.replacingOccurrences(of: "\n", with: " ")
}
