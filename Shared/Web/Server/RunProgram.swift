import Database
import Foundation
import Logging
import ServiceLifecycle

/// The body of every `main.swift`: reads the configuration, builds the service and serves until SIGTERM or SIGINT, or
/// does what the first argument says (``Command``). When it fails, the reason is written as one line to standard error,
/// and the exit code is 1.
///
/// - Parameters:
///   - schemas: the tables that `migrate` creates.
///   - commands: those that only this program has, beside ``ProgramCommand/wait``.
package func runProgram(
  _ name: String, schemas: [ServiceSchema] = [], commands: [ProgramCommand] = [],
  _ build: (Dependencies) async throws -> any Service
) async {
  let program = name == "kith" ? name : "kith-\(name)"
  let commands = [ProgramCommand.wait] + commands
  // To write to a pipe that nobody reads any more is an error, not the end of the process.
  signal(SIGPIPE, SIG_IGN)
  AvailableCores.sizePools()
  do {
    switch try Command(Array(CommandLine.arguments.dropFirst()), others: commands) {
    case .serve: try await serve(name, build)
    case .migrate: try await migrate(name, schemas)
    case .healthcheck:
      let port = ServiceName(rawValue: name)?.defaultPort ?? ServiceAddresses.gatewayPort
      try await HealthCheck(try await Settings.read(), defaultPort: port).run()
    case .version: print("\(program) \(Kith.version)")
    case .help: print(Command.usage(of: program, others: commands), terminator: "")
    case .other(let command, let arguments): try await command.run(try await Settings.read(), arguments)
    }
  } catch {
    // `try?`: without a reader there is nowhere to report that.
    try? FileHandle.standardError.write(contentsOf: Data("\(program): \(singleLine(error))\n".utf8))
    exit(1)
  }
}

private func serve(_ name: String, _ build: (Dependencies) async throws -> any Service) async throws {
  let settings = try await Settings.read()
  try StandardOutputLogHandler.bootstrap(settings, process: name)
  let logger = Logger(label: name)
  let service = try await build(Dependencies(settings, logger: logger))
  try await ServiceGroup(
    configuration: .init(
      services: [.init(ofType: service)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger.warningsOnly)
  ).run()
}

private func migrate(_ name: String, _ schemas: [ServiceSchema]) async throws {
  let settings = try await Settings.read()
  try StandardOutputLogHandler.bootstrap(settings, process: name)
  let logger = Logger(label: name)
  for schema in schemas {
    try await Dependencies(settings, logger: logger).migrateDatabase(schema)
    logger.info("migrated", metadata: ["schema": "\(schema.name)"])
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
