import Database
import Foundation
import Support

/// What is known of a person, and is looked for before and after an erasure.
struct PersonalTraces: Sendable {
  let name: String
  let email: String
  let phone: String
  let deviceToken: String
  /// As it is sent. What is stored of it are other bytes.
  let photo: Data
  /// The bytes of the photos that are stored.
  var storedPhotos: [Data] = []

  /// An app shows parts of names, and numbers without their plus.
  private var words: [String] {
    [name, name.components(separatedBy: " ").last ?? name, email, phone, String(phone.dropFirst()), deviceToken]
  }

  /// What ``found(in:)`` finds where everything is.
  var all: Set<String> { Set(words).union(storedPhotos.indices.map { "photo \($0)" }) }

  /// What any of these files contains.
  func found(in files: [Data]) -> Set<String> {
    let words = words.filter { word in files.contains { $0.range(of: Data(word.utf8)) != nil } }
    let photos = storedPhotos.indices.filter { index in
      files.contains { $0.range(of: storedPhotos[index]) != nil }
    }
    return Set(words).union(photos.map { "photo \($0)" })
  }

  /// What any table, and any file in the folder with the data and the log, contains.
  func found(in testDatabase: TestDatabase) async throws -> Set<String> {
    // The tables of SQLite are files.
    let rows = testDatabase.engine == .postgres ? try await ResidualData.inRows(words, of: testDatabase) : []
    return found(in: try ResidualData.contents(of: testDatabase.folder)).union(rows)
  }
}
