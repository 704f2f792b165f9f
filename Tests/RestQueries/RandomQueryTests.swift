import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// A random query, and the answer that the model has for it.
private struct ModelQuery {
  private(set) var parameters: [(String, String)] = []
  private var rules: [(ModelRow) -> Bool?] = []
  private var columns = ["id"]
  private var orders: [(column: String, isDescending: Bool, areNullsFirst: Bool)] = []
  private var limit: Int?
  private(set) var offset = 0
  private var noteRule: (ModelRow) -> Bool? = { _ in true }
  private var hasNotes = false
  private var isInner = false
  private var noteLimit: Int?

  init(_ random: inout ModelConditions) {
    columns += ["stars", "latitude", "is_open", "code", "tags"].filter { _ in random.chance(50) }
    for _ in 0..<random.pick([0, 1, 1, 2]) { addTest(&random) }
    if random.chance(40) { addTree(&random) }
    if random.chance(40) { addNotes(&random) }
    parameters.append(
      (
        "select",
        (columns + (hasNotes ? [isInner ? "notes!inner(points)" : "notes(points)"] : [])).joined(separator: ",")
      ))
    addPage(&random)
  }

  var text: String {
    parameters.map { name, value in "\(name)=\(Self.encoded(value))" }.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  private mutating func addTest(_ random: inout ModelConditions) {
    let test = random.test()
    parameters.append((test.column, test.parameter))
    rules.append(test.holds)
  }

  private mutating func addTree(_ random: inout ModelConditions) {
    let isOr = random.chance(60)
    let (text, rule) = Self.tree(&random, isOr: isOr, depth: 0)
    let isNegated = random.chance(25)
    parameters.append(((isNegated ? "not." : "") + (isOr ? "or" : "and"), text))
    rules.append { row in rule(row).map { $0 != isNegated } }
  }

  private static func tree(
    _ random: inout ModelConditions, isOr: Bool, depth: Int
  ) -> (String, (ModelRow) -> Bool?) {
    var items: [String] = []
    var rules: [(ModelRow) -> Bool?] = []
    for _ in 0..<random.pick([1, 2, 3]) {
      if depth < 3, random.chance(30) {
        let (isInnerOr, isNegated) = (random.chance(50), random.chance(25))
        let (text, rule) = tree(&random, isOr: isInnerOr, depth: depth + 1)
        items.append((isNegated ? "not." : "") + (isInnerOr ? "or" : "and") + text)
        rules.append { row in rule(row).map { $0 != isNegated } }
      } else {
        let test = random.test()
        items.append(test.item)
        rules.append(test.holds)
      }
    }
    let all = rules
    return ("(\(items.joined(separator: ",")))", { row in Self.combined(all.map { $0(row) }, isOr: isOr) })
  }

  /// The logic of SQL, with unknown as nil.
  private static func combined(_ values: [Bool?], isOr: Bool) -> Bool? {
    if values.contains(isOr) { return isOr }
    return values.contains(nil) ? nil : !isOr
  }

  private mutating func addNotes(_ random: inout ModelConditions) {
    hasNotes = true
    isInner = random.chance(40)
    if random.chance(50) {
      let test = random.integers("points")
      parameters.append(("notes.points", test.parameter))
      noteRule = test.holds
    }
    if random.chance(30) {
      noteLimit = random.pick([0, 1, 2])
      parameters.append(("notes.limit", String(noteLimit ?? 0)))
    }
  }

  private mutating func addPage(_ random: inout ModelConditions) {
    for column in ["stars", "latitude", "code", "is_open"] where random.chance(25) {
      let (isDescending, areNullsFirst) = (random.chance(50), random.chance(50))
      orders.append((column, isDescending, areNullsFirst))
    }
    if !orders.isEmpty {
      let terms = orders.map {
        "\($0.column).\($0.isDescending ? "desc" : "asc").nulls\($0.areNullsFirst ? "first" : "last")"
      }
      parameters.append(("order", terms.joined(separator: ",")))
    }
    if random.chance(40) {
      limit = random.pick([0, 1, 3, 10])
      parameters.append(("limit", String(limit ?? 0)))
    }
    if random.chance(30) {
      offset = random.pick([0, 1, 5])
      parameters.append(("offset", String(offset)))
    }
  }

  /// What the model answers, and how many rows there are on all pages.
  func answer(_ places: [ModelRow]) -> (json: String, total: Int) {
    let found = places.filter { place in
      rules.allSatisfy { $0(place) == true } && (!isInner || place.notes.contains { noteRule($0) == true })
    }.sorted(by: isBefore)
    let page = found.dropFirst(offset).prefix(limit ?? 1000).map(json)
    return ("[" + page.joined(separator: ",") + "]", found.count)
  }

  private func json(_ place: ModelRow) -> String {
    guard hasNotes else { return "{\(place.json(columns))}" }
    let notes = place.notes.filter { noteRule($0) == true }.prefix(noteLimit ?? 1000)
    return "{\(place.json(columns)),\"notes\":[\(notes.map { "{\($0.json(["points"]))}" }.joined(separator: ","))]}"
  }

  private func isBefore(_ one: ModelRow, _ two: ModelRow) -> Bool {
    for (column, isDescending, areNullsFirst) in orders {
      guard let order = Self.order(one.values[column] ?? .null, two.values[column] ?? .null, areNullsFirst) else {
        continue
      }
      return order.isByNull || !isDescending ? order.isLess : !order.isLess
    }
    return one.id < two.id
  }

  /// nil for equal values.
  private static func order(
    _ one: ModelValue, _ two: ModelValue, _ areNullsFirst: Bool
  ) -> (isLess: Bool, isByNull: Bool)? {
    switch (one, two) {
    case _ where one == two: nil
    case (.null, _): (areNullsFirst, true)
    case (_, .null): (!areNullsFirst, true)
    case (.integer(let one), .integer(let two)): (one < two, false)
    case (.number(let one), .number(let two)): (one < two, false)
    case (.bool(let one), .bool): (!one, false)
    case (.text(let one), .text(let two)): (ModelConditions.order(one, two) < 0, false)
    default: nil
    }
  }
}

/// Random queries on random data, compared with a model in plain Swift.
@Suite struct RandomQueryTests {
  private static let seed: UInt64 = 20
  private static let queryCount = 10_000
  private static let batchSize = 500

  @Test(arguments: engines) func tenThousandRandomQueriesAnswerLikeTheModel(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.database.write { try $0.change("drop index place_code") }
      let data = try await ModelData.insert(60, for: app, seed: Self.seed)
      #expect(data.places.count > 30)
      var random = ModelConditions(random: SeededRandom(seed: Self.seed + 1))
      var foundCount = 0
      for _ in 0..<(Self.queryCount / Self.batchSize) {
        let queries = (0..<Self.batchSize).map { _ in
          let query = ModelQuery(&random)
          let (json, total) = query.answer(data.places)
          return Expected(text: query.text, json: json, total: total, offset: query.offset)
        }
        let caller = Caller(app.alice, at: app.now)
        let differences = try await app.database.read { db in
          try queries.compactMap { try $0.difference(for: caller, on: db, engine) }
        }
        #expect(differences.isEmpty, "\(differences.prefix(3))")
        guard differences.isEmpty else { return }
        foundCount += queries.reduce(0) { $0 + $1.total }
      }
      // The queries are not all too narrow to find anything.
      #expect(foundCount > Self.queryCount)
    }
  }

  private struct Expected: Sendable {
    let text: String
    let json: String
    let total: Int
    let offset: Int

    func difference(for caller: Caller, on db: any Connection, _ engine: Engine) throws -> String? {
      let request = RestRequest(.get, "places", query: text, prefer: ["count=exact"])
      do {
        let answer = try RestOperation(request, in: Places.schema).answer(for: caller, on: db, engine)
        let counted = answer.header("content-range")?.split(separator: "/").last.map(String.init)
        return answer.text == json && counted == String(total) ? nil : "\(text)\n\(answer.text)\n\(json)"
      } catch let failure as RestFailure {
        // An offset past the end, which is refused where the rows are counted.
        return failure.code == "PGRST103" && offset > total ? nil : "\(text)\n\(failure)"
      }
    }
  }
}
