import Foundation

/// What a program does, by its arguments.
enum Command: String, CaseIterable {
  case serve, migrate, healthcheck, version, help

  /// Without arguments the program serves.
  ///
  /// - Throws: ``StartFailure`` for unknown arguments.
  init(_ arguments: [String]) throws {
    guard arguments.count <= 1, let command = Self(rawValue: arguments.first.map(Self.withoutDashes) ?? "serve") else {
      throw StartFailure("unknown arguments: \(arguments.joined(separator: " ")); see: help")
    }
    self = command
  }

  /// `--help` and `--version` are what people try first.
  private static func withoutDashes(_ argument: String) -> String {
    argument == "-h" ? "help" : String(argument.trimmingPrefix("--"))
  }

  static func usage(of program: String) -> String {
    """
    usage: \(program) [command]

      serve        serve until SIGTERM or SIGINT (without a command)
      migrate      run the pending migrations of the database, and exit
      healthcheck  exit with 0 if the program that listens on PORT is ready, else with 1
      version      print the version
      help         print this

    Configuration: environment variables, or a file .env in the working directory.

    """
  }
}
