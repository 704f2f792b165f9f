/// A command that takes arguments, or that only one program has.
package struct ProgramCommand: Sendable {
  let name: String
  /// The names of its arguments, in capitals; all are required. With `...` after the last one there may be more of it.
  let parameters: [String]
  let summary: String
  let run: @Sendable (Settings, [String]) async throws -> Void

  package init(
    _ name: String, _ parameters: [String], _ summary: String,
    run: @escaping @Sendable (Settings, [String]) async throws -> Void
  ) {
    self.name = name
    self.parameters = parameters
    self.summary = summary
    self.run = run
  }

  func accepts(argumentCount count: Int) -> Bool {
    parameters.last?.hasSuffix("...") == true ? count >= parameters.count : count == parameters.count
  }
}

extension ProgramCommand {
  /// The command of every program that takes arguments.
  static let wait = ProgramCommand(
    "wait", ["URL..."], "exit with 0 once the programs at these URLs are ready, with 1 after five minutes"
  ) { _, arguments in
    try await ReadinessWait(forPrograms: arguments).run()
  }
}
