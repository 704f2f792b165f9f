import Foundation
import Tokens
import Web
import Wire

/// The secrets that `kith` makes up in development, kept under `DATA_DIR` so that tokens outlive a restart.
enum DevelopmentSecrets {
  /// `settings` with what is missing. A variable that is set, even to nothing, stays as it is; outside development
  /// nothing is made up.
  static func complete(_ settings: Settings) throws -> Settings {
    guard try settings.stage() == .development else { return settings }
    let made = try read(folder: settings.string("DATA_DIR", default: "data"))
    var missing = made.filter { settings.string($0.key) == nil }
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
      let made = parse(try String(contentsOfFile: path, encoding: .utf8))
      guard made["DATA_KEYS"] == nil else { return made }
      try append("DATA_KEYS=data:\(random())\n", to: path)
      return parse(try String(contentsOfFile: path, encoding: .utf8))
    } catch {
      throw StartFailure("\(path) cannot be read or written")
    }
  }

  /// Whole or not at all, and only by the first of several processes that start together.
  private static func write(to path: String, in folder: String) throws {
    let draft = "\(folder)/.secrets.\(UUID().uuidString)"
    let keys = ["gateway", "auth", "groups", "credits"].map { "\($0):\(random())" }.joined(separator: ",")
    let text = """
      # Made up by kith for development. Delete this file to have new ones; everybody is then signed out.
      JWT_SECRET_KEY=\(random())
      SERVICE_KEYS=\(keys)
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

  /// A file of an older version lacks a line. Of several processes that add it at the same time, the first one's counts.
  private static func append(_ line: String, to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(line.utf8))
    try file.close()
  }

  private static func parse(_ text: String) -> [String: String] {
    var values: [String: String] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: "=", maxSplits: 1)
      if parts.count == 2, values[String(parts[0])] == nil { values[String(parts[0])] = String(parts[1]) }
    }
    return values
  }

  private static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }
}
