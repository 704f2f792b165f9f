import Foundation

/// A column of an answer: what `select` has for it, and its member.
struct ModelColumn {
  let text: String
  let json: (ModelRow) -> String
}

/// A term of `order`.
struct ModelOrder {
  let field: String
  let isDescending: Bool
  let areNullsFirst: Bool
  /// nil for what has no row.
  let value: (ModelRow) -> ModelValue?

  var text: String { "\(field).\(isDescending ? "desc" : "asc").nulls\(areNullsFirst ? "first" : "last")" }

  /// The last order is that of the ids.
  static func isBefore(_ one: ModelRow, _ two: ModelRow, by orders: [ModelOrder]) -> Bool {
    for order in orders {
      for (first, second) in zip(order.parts(one), order.parts(two)) {
        guard let (isLess, isByNull) = Self.order(first, second, order.areNullsFirst) else { continue }
        return isByNull || !order.isDescending ? isLess : !isLess
      }
    }
    return one.id < two.id
  }

  /// JSON is ordered by its numbers, then by its text.
  private func parts(_ row: ModelRow) -> [ModelValue] {
    let value = value(row) ?? .null
    guard case .json(let json) = value else { return value == .null ? [.null, .null] : [value, value] }
    return [json.number.map(ModelValue.integer) ?? .null, .text(json.text)]
  }

  /// nil for equal values.
  private static func order(
    _ one: ModelValue, _ two: ModelValue, _ areNullsFirst: Bool
  ) -> (isLess: Bool, isByNull: Bool)? {
    switch (one, two) {
    case _ where one == two: nil
    case (.null, _): (areNullsFirst, true)
    case (_, .null): (!areNullsFirst, true)
    case (.integer(let one), .integer(let two)), (.time(let one), .time(let two)), (.day(let one), .day(let two)):
      (one < two, false)
    case (.number(let one), .number(let two)): (one < two, false)
    case (.bool(let one), .bool): (!one, false)
    case (.text(let one), .text(let two)): (ModelConditions.order(one, two) < 0, false)
    default: nil
    }
  }
}

extension ModelConditions {
  mutating func placeColumns() -> [ModelColumn] {
    let names = ["stars", "latitude", "is_open", "code", "tags", "seen_at", "visited_on", "details", "note_count"]
    return [Self.column("id")] + names.filter { _ in chance(40) }.map(Self.column) + derivedColumns()
  }

  mutating func noteColumns() -> [ModelColumn] {
    [Self.column("id")] + ["points", "text"].filter { _ in chance(60) }.map(Self.column)
  }

  private static func column(_ name: String) -> ModelColumn {
    ModelColumn(text: name) { row in "\"\(name)\":\((row.values[name] ?? .null).json)" }
  }

  /// Aliases, casts and paths into JSON.
  private mutating func derivedColumns() -> [ModelColumn] {
    let (json, text) = (path(isText: false), path(isText: true))
    let columns = [
      ModelColumn(text: "rated:stars") { "\"rated\":\(($0.values["stars"] ?? .null).json)" },
      ModelColumn(text: "s:stars::text") { "\"s\":\"\(($0.values["stars"] ?? .null).json)\"" },
      ModelColumn(text: "o:is_open::int") { "\"o\":\($0.values["is_open"] == .bool(true) ? 1 : 0)" },
      ModelColumn(text: "j:\(json.field)") { "\"j\":\(json.value(in: $0)?.text ?? "null")" },
      ModelColumn(text: "t:\(text.field)") { row in
        "\"t\":\(text.value(in: row)?.plainText.map { ModelJSON.text($0).text } ?? "null")"
      },
    ]
    return columns.filter { _ in chance(20) }
  }

  mutating func placeOrders() -> [ModelOrder] {
    let (json, text) = (path(isText: false), path(isText: true))
    return ["stars", "latitude", "code", "is_open", "seen_at", "visited_on"].map { order($0) } + [
      order(json.field) { row in json.value(in: row).map(ModelValue.json) },
      order(text.field) { row in text.value(in: row)?.plainText.map(ModelValue.text) },
    ]
  }

  mutating func noteOrders() -> [ModelOrder] { ["points", "text"].map { order($0) } }

  mutating func order(_ field: String, _ value: ((ModelRow) -> ModelValue?)? = nil) -> ModelOrder {
    ModelOrder(
      field: field, isDescending: chance(50), areNullsFirst: chance(50), value: value ?? { $0.values[field] })
  }
}

extension ModelValue {
  /// As an answer has it.
  var json: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): value == value.rounded() ? "\(Int(value))" : "\(value)"
    case .text(let value): ModelJSON.text(value).text
    case .list(let list): ModelJSON.array(list.map(ModelJSON.text)).text
    case .json(let value): value.text
    case .time(let seconds): "\"\(ModelConditions.clock(seconds))Z\""
    case .day(let day): "\"\(ModelConditions.date(day))\""
    }
  }
}
