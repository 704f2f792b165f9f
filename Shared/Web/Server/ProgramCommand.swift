/// A command that only one program has, in addition to those of all programs.
package struct ProgramCommand: Sendable {
  let name: String
  /// The names of its arguments, in capitals; all are required.
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
}
