import Foundation

/// A value in a file, written whole or not at all.
struct StateFile<Value: Codable & Sendable>: Sendable {
  private let url: URL

  init(_ url: URL) { self.url = url }

  /// nil when there is none, or one of another version.
  func read() -> Value? {
    guard let data = try? Data(contentsOf: url) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: data)
  }

  func write(_ value: Value) throws {
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    #if os(iOS)
      let options: Data.WritingOptions = [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
    #else
      let options: Data.WritingOptions = .atomic
    #endif
    try JSONEncoder().encode(value).write(to: url, options: options)
  }

  func delete() throws {
    do { try FileManager.default.removeItem(at: url) } catch CocoaError.fileNoSuchFile {}
  }
}
