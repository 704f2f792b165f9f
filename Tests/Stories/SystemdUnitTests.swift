import Foundation
import Support
import Testing

/// The units of `deploy/systemd`: systemd knows what they say, and what they start runs with the file of `make env`.
@Suite struct SystemdUnitTests {
  fileprivate static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let program = "/usr/local/bin/kith"

  @Test func kithServesAndReloadsAndIsBackedUp() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let machine = Machine(root: testDatabase.folder.path, program: try executable("kith"))
      try await machine.writeEnvironmentFile()
      let (unit, backup) = (try Unit("kith.service"), try Unit("kith-backup.service"))

      try machine.makeFolders(of: unit)
      let ports = try KithProcess.environment(testDatabase).filter { $0.key.hasSuffix("PORT") }
      let start = try machine.command("ExecStart", of: unit)
      #expect(start[0] == machine.program)
      let environment = try machine.environment(of: unit).merging(ports) { $1 }
      let kith = try KithProcess.launch("kith", environment, in: testDatabase, arguments: Array(start.dropFirst()))
      try await kith.healthy()
      let reload = try await machine.end("ExecReload", of: unit, mainPID: kith.child.id)
      #expect(reload.code == 0, "\(reload.printed)")
      try await kith.healthy()

      try machine.makeFolders(of: backup)
      try machine.makeArchive("old.tar", daysAgo: 15)
      try machine.makeArchive("recent.tar", daysAgo: 13)
      for key in ["ExecStart", "ExecStartPost"] {
        let ended = try await machine.end(key, of: backup)
        #expect(ended.code == 0, "\(key): \(ended.printed)")
      }
      let archives = try machine.archives()
      #expect(archives.count == 2 && archives.last == "recent.tar", "\(archives)")
      #expect(archives.first?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d{6}Z\.tar/) != nil, "\(archives)")
      // Without a handler SIGHUP would have ended it.
      #expect(await kith.stop() == 0)
    }
  }

  @Test(arguments: ["kith.service", "kith-backup.service"])
  func itHasNoRightsButThoseItNeeds(name: String) throws {
    let unit = try Unit(name)
    var values = [
      "User": "kith", "StateDirectoryMode": "0700", "UMask": "0077", "NoNewPrivileges": "yes",
      "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
    ]
    if name == "kith.service" {
      values["CapabilityBoundingSet"] = ""
      values["SystemCallFilter"] = "@system-service"
      for key in ["PrivateDevices", "ProtectKernelModules", "RestrictNamespaces", "LockPersonality"] {
        values[key] = "yes"
      }
    }
    for (key, value) in values { #expect(unit["Service", key] == [value], "\(key)") }
  }

  @Test(arguments: ["kith.service", "kith-backup.service"])
  func itsFilesAndVariablesAreThoseOfTheInstructions(name: String) throws {
    let (unit, instructions) = (try Unit(name), try Unit("kith.service").text)
    let example = try String(contentsOf: Self.project.appending(path: ".env.example"), encoding: .utf8)
    for variable in unit.variables.keys { #expect(example.contains("\n\(variable)="), "\(variable)") }
    #expect(unit.variables["DATA_DIR"] == "/var/lib/kith")
    for file in unit["Service", "EnvironmentFile"] { #expect(instructions.contains("-D .env \(file) ")) }
    #expect(unit["Service", "EnvironmentFile"].count == 1)
    #expect(unit["Service", "ExecStart"].joined().contains(Self.program))
    #expect(instructions.contains("install -m 755 .build/programs/kith \(Self.program)\n"))
  }

  @Test func systemdKnowsEveryKeyAndValue() async throws {
    // `try?`: a command that is not there cannot be started.
    guard let child = try? ChildProcess(["systemd-analyze", "--version"]), await child.end() == 0 else {
      print("NOTE: `systemd-analyze` is not installed: the units are not verified with it.")
      return
    }
    #expect(try await warnings { $0 } == "")
    // The premise of that.
    for (right, wrong) in [
      ("NoNewPrivileges", "NoNewPrivilege"), ("=strict", "=strictly"), ("*-*-*", "daily at"), (Self.program, "/bin/no"),
    ] {
      let found = try await warnings { $0.replacing(right, with: wrong) }
      #expect(found.contains("kith"), "\(wrong) is found")
    }
  }

  /// What `systemd-analyze verify` says of the units, whose program need not be installed.
  private func warnings(_ change: (String) -> String) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kith-units-\(UUID())")
    // `try?`: a leftover folder does no harm.
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var command = ["systemd-analyze", "verify"]
    for name in ["kith.service", "kith-backup.service", "kith-backup.timer"] {
      let file = folder.appending(path: name)
      let text = change(try Unit(name).text).replacing(Self.program, with: try executable("kith"))
      try Data(text.utf8).write(to: file)
      command.append(file.path)
    }
    let child = try ChildProcess(command, output: folder.appending(path: "output").path)
    let code = await child.end()
    // Other units of this machine may have warnings of their own.
    let own = child.printed().split(separator: "\n").filter { $0.contains("kith") }
    return code == 0 || !own.isEmpty ? own.joined(separator: "\n") : child.printed()
  }
}

/// A unit file.
private struct Unit {
  let text: String
  private var values: [String: [String]] = [:]

  init(_ name: String) throws {
    text = try String(
      contentsOf: SystemdUnitTests.project.appending(path: "deploy/systemd/\(name)"), encoding: .utf8)
    var section = ""
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let sign = line.firstIndex(of: "=") else {
        section = String(line)
        continue
      }
      values["\(section)\(line[..<sign])", default: []].append(String(line[line.index(after: sign)...]))
    }
  }

  /// The values of a key, in order.
  subscript(section: String, key: String) -> [String] { values["[\(section)]\(key)"] ?? [] }

  /// Those that the unit sets itself.
  var variables: [String: String] {
    let pairs = self["Service", "Environment"].flatMap { $0.split(separator: " ") }
      .map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init) }
    return Dictionary(pairs.map { ($0[0], $0[1]) }) { $1 }
  }
}

/// A folder that stands for `/var/lib`, and a program that stands for the installed one.
private struct Machine {
  let root: String
  let program: String

  /// What `make env` writes, for the first start.
  func writeEnvironmentFile() async throws {
    try await run([SystemdUnitTests.project.appending(path: "scripts/env").path, "\(root)/kith.env"])
  }

  /// The variables of a unit. Those of the file take precedence.
  func environment(of unit: Unit) throws -> [String: String] {
    let file = try String(contentsOfFile: "\(root)/kith.env", encoding: .utf8)
    let pairs = file.matches(of: /(?m)^([A-Z_]+)=(.*)$/).map { (String($0.output.1), String($0.output.2)) }
    #expect(pairs.contains { $0 == ("ENVIRONMENT", "production") })
    return unit.variables.mapValues(placed).merging(pairs) { $1 }
  }

  /// Makes the folders that systemd makes, and no others.
  func makeFolders(of unit: Unit) throws {
    for name in unit["Service", "StateDirectory"].joined().split(separator: " ") {
      try FileManager.default.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
    }
  }

  /// The words of a command, as systemd reads them.
  func command(_ key: String, of unit: Unit, mainPID: pid_t = 0) throws -> [String] {
    let line = try #require(unit["Service", key].first)
    return line.matches(of: /'([^']*)'|\S+/).map { match in
      placed(String(match.output.1 ?? match.output.0)).replacing("$MAINPID", with: "\(mainPID)")
        .replacing("$$", with: "$").replacing("%%", with: "%")
    }
  }

  /// Runs a command of a unit to its end.
  func end(_ key: String, of unit: Unit, mainPID: pid_t = 0) async throws -> (code: Int32, printed: String) {
    let child = try ChildProcess(
      try command(key, of: unit, mainPID: mainPID), environment: try environment(of: unit),
      output: "\(root)/\(UUID().uuidString).log")
    return (await child.end(within: .seconds(120)), child.printed())
  }

  func makeArchive(_ name: String, daysAgo: Double) throws {
    let path = "\(root)/kith-backups/\(name)"
    try Data().write(to: URL(filePath: path))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -86_400 * daysAgo)], ofItemAtPath: path)
  }

  func archives() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(root)/kith-backups").sorted()
  }

  private func placed(_ text: String) -> String {
    text.replacing("/var/lib/", with: "\(root)/").replacing("/usr/local/bin/kith", with: program)
  }
}
