import Foundation
import Tokens
import Web
import Wire

/// Secrets that `kith` generates in development and stores under `DATA_DIR`, so that access tokens stay valid across
/// restarts.
enum DevelopmentSecrets {
  /// `settings` with generated values for missing variables. A variable that is set, even to an empty value, is kept;
  /// outside development nothing is generated.
  static func complete(_ settings: Settings) throws -> Settings {
    guard try settings.stage() == .development else { return settings }
    let generated = try read(folder: settings.string("DATA_DIR", default: "data"))
    var missing = generated.filter { settings.string($0.key) == nil }
    if settings.string("SERVICE_KEY") != nil { missing["SERVICE_KEYS"] = nil }
    if let adminKey = missing["ADMIN_API_KEY"] {
      FileHandle.standardError.write(Data("kith: ADMIN_API_KEY of this development stack: \(adminKey)\n".utf8))
    }
    return settings.defaulting(missing)
  }

  private static func read(folder: String) throws -> [String: String] {
    let path = "\(folder)/secrets.env"
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if !FileManager.default.fileExists(atPath: path) { try write(to: path, in: folder) }
      let stored = parse(try String(contentsOfFile: path, encoding: .utf8))
      var lines = ""
      if stored["DATA_KEYS"] == nil { lines += "DATA_KEYS=data:\(random())\n" }
      let known = (stored["SERVICE_KEYS"] ?? "").split(separator: ",").map { $0.prefix { $0 != ":" } }
      let unknown = names.filter { !known.contains($0[...]) }
      if !unknown.isEmpty { lines += "SERVICE_KEYS=\(keys(of: unknown))\n" }
      guard !lines.isEmpty else { return stored }
      try append(lines, to: path)
      return parse(try String(contentsOfFile: path, encoding: .utf8))
    } catch {
      throw StartFailure("\(path) cannot be read or written")
    }
  }

  /// Creates the file atomically; of several processes that start together only the first one's file is kept.
  private static func write(to path: String, in folder: String) throws {
    let draft = "\(folder)/.secrets.\(UUID().uuidString)"
    let text = """
      # Made up by kith for development. Delete this file to have new ones; everybody is then signed out.
      JWT_SECRET_KEY=\(random())
      SERVICE_KEYS=\(keys(of: names))
      ADMIN_API_KEY=\(random())
      DATA_KEYS=data:\(random())

      """
    guard
      FileManager.default.createFile(
        atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw StartFailure("cannot write \(draft)") }
    defer { unlink(draft) }
    guard link(draft, path) == 0 || errno == EEXIST else { throw StartFailure("cannot write \(path)") }
  }

  private static let names = ["gateway"] + ServiceName.bundled.map(\.rawValue)

  private static func keys(of names: [String]) -> String {
    names.map { "\($0):\(random())" }.joined(separator: ",")
  }

  /// Adds the lines that a file of an older version lacks. Of several processes that do so at the same time, the first
  /// one's lines are used.
  private static func append(_ lines: String, to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(lines.utf8))
    try file.close()
  }

  /// The values by name. The first line of a name is used, except for `SERVICE_KEYS`, whose lines are joined: services
  /// were added over time.
  private static func parse(_ text: String) -> [String: String] {
    var values: [String: String] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      if let earlier = values[parts[0]] {
        if parts[0] == "SERVICE_KEYS" { values[parts[0]] = "\(earlier),\(parts[1])" }
      } else {
        values[parts[0]] = parts[1]
      }
    }
    return values
  }

  private static func random() -> String { Base64URL.encode(Random.bytes(count: 32)) }
}
