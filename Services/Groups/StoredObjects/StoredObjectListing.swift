import ClientBodies
import Foundation
import Wire

/// The entries of one folder, in the order and the part that a client asks for.
struct StoredObjectListing: Decodable, Sendable {
  struct Order: Decodable, Sendable {
    let column: String?
    let order: String?
  }

  let prefix: String?
  let limit: Int?
  let offset: Int?
  let search: String?
  let sortBy: Order?

  static let limitMax = 1000
  private static let columns: Set = ["name", "created_at", "updated_at", "last_accessed_at"]

  /// - Throws: a validation failure for a limit, an offset or an order that does not exist.
  func check() throws(Failure) {
    guard (1...Self.limitMax).contains(limit ?? 100) else {
      throw .invalid(.init("limit", "must be 1 to \(Self.limitMax)"))
    }
    guard (offset ?? 0) >= 0 else { throw .invalid(.init("offset", "must be 0 or more")) }
    guard Self.columns.contains(sortBy?.column ?? "name") else {
      throw .invalid(.init("sortBy.column", "must be one of \(Self.columns.sorted().joined(separator: ", "))"))
    }
    guard ["asc", "desc"].contains(sortBy?.order ?? "asc") else {
      throw .invalid(.init("sortBy.order", "must be asc or desc"))
    }
  }

  /// - Parameter objects: all files of the caller in the bucket.
  func entries(among objects: [StoredObject]) -> [ClientBodies.StoredFile] {
    var folder = prefix ?? ""
    if !folder.isEmpty, !folder.hasSuffix("/") { folder += "/" }
    let entries = Self.entries(in: folder.lowercasedOwner, among: objects)
      .filter { entry in search.map { $0.isEmpty || entry.name.lowercased().contains($0.lowercased()) } ?? true }
    let sorted = entries.sorted { (key($0), $0.name) < (key($1), $1.name) }
    let ordered = sortBy?.order == "desc" ? sorted.reversed() : sorted
    return Array(ordered.dropFirst(offset ?? 0).prefix(limit ?? 100))
  }

  /// The time by which entries are ordered: folders have none and come first. The same for all when they are ordered by
  /// name.
  private func key(_ entry: ClientBodies.StoredFile) -> Date {
    switch sortBy?.column {
    case "created_at": entry.createdAt ?? .distantPast
    case "updated_at", "last_accessed_at": entry.updatedAt ?? .distantPast
    default: .distantPast
    }
  }

  private static func entries(in folder: String, among objects: [StoredObject]) -> [ClientBodies.StoredFile] {
    var folders: Set<String> = []
    var entries: [ClientBodies.StoredFile] = []
    for object in objects where object.name.path.hasPrefix(folder) {
      let rest = object.name.path.dropFirst(folder.utf8.count)
      guard let slash = rest.firstIndex(of: "/") else {
        entries.append(.init(object, named: String(rest)))
        continue
      }
      let name = String(rest[..<slash])
      if folders.insert(name).inserted { entries.append(.init(folder: name)) }
    }
    return entries
  }
}

extension String {
  /// A path whose first part, an id that clients may send in upper case, is in lower case.
  fileprivate var lowercasedOwner: String {
    guard let slash = firstIndex(of: "/") else { return lowercased() }
    return self[..<slash].lowercased() + self[slash...]
  }
}
