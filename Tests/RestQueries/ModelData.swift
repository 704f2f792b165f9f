import Database
import Foundation
import RestQueries
import Support
import Wire

/// Random places and notes: in the database, and as the model has them.
struct ModelData {
  /// What Alice sees, ordered by id.
  let places: [ModelRow]
  let notes: [ModelRow]

  /// 2024-01-15
  static let day = Date(timeIntervalSince1970: 1_705_276_800)

  static func insert(_ count: Int, for app: PlacesApp, seed: UInt64) async throws -> ModelData {
    var random = ModelConditions(random: SeededRandom(seed: seed))
    let rows: [OwnedPlace] = (0..<count).map { number in
      let notes = (0..<random.pick([0, 0, 1, 2, 3])).map { index in
        WrittenNote(
          row: random.note(id(number * 10 + index + 1)), author: random.chance(50) ? app.alice : app.bob,
          isSecret: random.chance(30))
      }
      return OwnedPlace(
        row: random.place(id(number * 10)), owner: random.chance(60) ? app.alice : app.bob, notes: notes)
    }
    try await app.database.write { db in
      for place in rows {
        try db.change(place.row.insertion(place.owner, at: app.now))
        for note in place.notes {
          try db.change(note.row.insertion(note.author, isSecret: note.isSecret, into: place.row.id, at: app.now))
        }
      }
    }
    return ModelData(
      places: rows.compactMap { $0.seen(by: app.alice) }, notes: rows.flatMap { $0.notesSeen(by: app.alice) })
  }

  static func id(_ number: Int) -> String {
    let digits = String(number)
    return "0000abcd-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }
}

private struct WrittenNote: Sendable {
  let row: ModelRow
  let author: UserID
  let isSecret: Bool
}

private struct OwnedPlace: Sendable {
  let row: ModelRow
  let owner: UserID
  let notes: [WrittenNote]

  /// The rules of the declared tables, in Swift.
  func seen(by user: UserID) -> ModelRow? {
    let isGuest = row.values["is_open"] == .bool(true) && notes.contains { $0.author == user }
    guard owner == user || isGuest else { return nil }
    var seen = row
    seen.values["note_count"] = .integer(notes.count)
    seen.notes = visible(to: user)
    return seen
  }

  /// Also at a place that the user does not see.
  func notesSeen(by user: UserID) -> [ModelRow] { visible(to: user).map { $0.at(seen(by: user)) } }

  private func visible(to user: UserID) -> [ModelRow] {
    notes.filter { $0.author == user || (!$0.isSecret && owner == user) }.map(\.row)
  }
}

extension ModelConditions {
  fileprivate mutating func place(_ id: String) -> ModelRow {
    let code: ModelValue = chance(20) ? .null : .text(pick(Self.words))
    return ModelRow(
      id: id,
      values: [
        "id": .text(id), "stars": .integer(Int.random(in: -1...5, using: &random)),
        "latitude": chance(20) ? .null : .number(pick([-1.5, 0, 0.1, 2, 3.25])), "is_open": .bool(chance(50)),
        "code": code, "tags": .list(["a", "b", "c"].filter { _ in chance(40) }),
        "seen_at": chance(20) ? .null : .time(pick([0, 1, 3600, 86_400])),
        "visited_on": chance(20) ? .null : .day(Int.random(in: 0...3, using: &random)), "details": details(),
      ])
  }

  fileprivate mutating func note(_ id: String) -> ModelRow {
    ModelRow(
      id: id,
      values: [
        "id": .text(id), "text": .text(pick(Self.words)), "points": .integer(Int.random(in: -1...5, using: &random)),
      ])
  }
}

extension ModelRow {
  private func value(_ name: String) -> Value {
    switch values[name] {
    case .bool(let value): value.binding
    case .integer(let value): value.binding
    case .number(let value): .text("\(value)")
    case .text(let value): .text(value)
    case .list(let list): .text(ModelJSON.array(list.map(ModelJSON.text)).text)
    case .json(let value): .text(value.text)
    case .time(let seconds): (ModelData.day + Double(seconds)).binding
    case .day(let day): .text(ModelConditions.date(day))
    case .null, nil: .null
    }
  }

  fileprivate func insertion(_ owner: UserID, at now: Date) -> SQL {
    """
    insert into place (id, user_id, name, stars, latitude, is_open, code, tags, seen_at, visited_on, details,
      created_at, updated_at)
    values (\(id), \(owner), \("x"), \(value("stars")), \(value("latitude")), \(value("is_open")), \(value("code")),
      \(value("tags")), \(value("seen_at")), \(value("visited_on")), \(value("details")), \(now), \(now))
    """
  }

  fileprivate func insertion(_ author: UserID, isSecret: Bool, into place: String, at now: Date) -> SQL {
    """
    insert into note (id, place_id, user_id, text, points, is_secret, created_at)
    values (\(id), \(place), \(author), \(value("text")), \(value("points")), \(isSecret), \(now))
    """
  }
}
