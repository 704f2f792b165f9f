import Foundation

/// A process that a test starts and may kill.
///
/// Foundation's `Process` also waits for every process that inherits its socket, such as a server that a command leaves
/// running; `posix_spawn` and `waitpid` wait only for the process itself.
package struct ChildProcess: Sendable {
  package let id: pid_t
  /// The file with its standard output and standard error.
  package let output: String

  /// - Parameter environment: all its variables, apart from `PATH`, which is inherited; nil inherits all.
  package init(_ command: [String], environment: [String: String]? = nil, output: String = "/dev/null") throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // The sockets of other tests: while a child has one too, no close of it reaches the other side.
    _ = Self.addCloseFrom?(&actions, 3)
    let inherited = ProcessInfo.processInfo.environment
    var variables = environment ?? inherited
    variables["PATH"] = inherited["PATH"]
    let arguments = command.map { strdup($0) } + [nil]
    let pairs = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in arguments + pairs { free(pointer) } }
    var id = pid_t()
    let failure = posix_spawnp(&id, command[0], &actions, nil, arguments, pairs)
    guard failure == 0 else { throw Unexpected(reply: "\(command[0]): \(String(cString: strerror(failure)))") }
    self.id = id
    self.output = output
  }

  private typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

  /// `posix_spawn_file_actions_addclosefrom_np` of glibc 2.34, which its headers only declare for C of GNU; nil elsewhere.
  private static let addCloseFrom: AddCloseFrom? = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
    unsafeBitCast($0, to: AddCloseFrom.self)
  }

  package func signal(_ number: Int32) { _ = kill(id, number) }

  /// Waits for its end and returns the exit code, or 128 plus the signal number. Call it once. What has not ended
  /// after `limit` is killed: one that hangs would hold all tests up.
  package func end(within limit: Duration = .seconds(2400)) async -> Int32 {
    let killing = Task { [id] in
      try await Task.sleep(for: limit)
      _ = kill(id, SIGKILL)
    }
    defer { killing.cancel() }
    return await withCheckedContinuation { continuation in
      Thread { [id] in
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
      }.start()
    }
  }

  package func printed() -> String {
    // `try?`: a file that was never written is empty.
    (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
  }
}

/// Runs a command and waits for it.
///
/// - Throws: ``Unexpected`` when its exit code is not 0.
package func run(_ command: [String]) async throws {
  let code = try await ChildProcess(command).end()
  guard code == 0 else { throw Unexpected(reply: "\(command.joined(separator: " ")) ended with \(code)") }
}

/// The path of an executable of this package, in the build folder of the tests.
package func executable(_ name: String) throws -> String {
  var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
  for _ in 0..<4 {
    let path = folder.appendingPathComponent(name).path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue { return path }
    folder.deleteLastPathComponent()
  }
  throw Unexpected(reply: "\(name) is not built")
}
