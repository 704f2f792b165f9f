import Foundation

/// What a program does, by its arguments.
enum Command {
  case serve, migrate, healthcheck, version, help
  case other(ProgramCommand, [String])

  /// Without arguments the program serves.
  ///
  /// - Throws: ``StartFailure`` for unknown arguments.
  init(_ arguments: [String], others: [ProgramCommand] = []) throws {
    let name = arguments.first.map(Self.withoutDashes) ?? "serve"
    if let other = others.first(where: { $0.name == name }) {
      guard other.accepts(argumentCount: arguments.count - 1) else {
        throw StartFailure("usage: \(([name] + other.parameters).joined(separator: " "))")
      }
      self = .other(other, Array(arguments.dropFirst()))
      return
    }
    guard arguments.count <= 1, let command = Self.common.first(where: { $0.name == name })?.command else {
      throw StartFailure("unknown arguments: \(arguments.joined(separator: " ")); see: help")
    }
    self = command
  }

  /// `--help` and `--version` are what people try first.
  private static func withoutDashes(_ argument: String) -> String {
    argument == "-h" ? "help" : String(argument.trimmingPrefix("--"))
  }

  private static let common: [(command: Command, name: String, summary: String)] = [
    (.serve, "serve", "serve until SIGTERM or SIGINT (without a command)"),
    (.migrate, "migrate", "run the pending migrations of the database, and exit"),
    (.healthcheck, "healthcheck", "exit with 0 if the program that listens on PORT is ready, else with 1"),
    (.version, "version", "print the version"),
    (.help, "help", "print this"),
  ]

  static func usage(of program: String, others: [ProgramCommand] = []) -> String {
    let commands =
      common.map { ($0.name, $0.summary) }
      + others.map { (([$0.name] + $0.parameters).joined(separator: " "), $0.summary) }
    let lines = commands.map { name, summary in
      "  \(name.padding(toLength: 14, withPad: " ", startingAt: 0)) \(summary)"
    }
    return """
      usage: \(program) [command]

      \(lines.joined(separator: "\n"))

      Configuration: environment variables, or a file .env in the working directory.

      """
  }
}
