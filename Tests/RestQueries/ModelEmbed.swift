import Foundation

/// A resource embedded in the rows of a query: the notes of a place, or the place of a note.
struct ModelEmbed {
  /// As `select` has it.
  let text: String
  /// Conditions, order and page of the embedded rows.
  let parameters: [(String, String)]
  /// Whether a row is shown, by what it embeds.
  let keeps: (ModelRow) -> Bool
  let json: (ModelRow) -> String
  /// Of a note, if its place is embedded.
  var place: ((ModelRow) -> ModelRow?)?
}

extension ModelConditions {
  /// `n:notes!inner(points)` with conditions, an order and a page; or their number.
  mutating func notesEmbed() -> ModelEmbed {
    let (name, isInner, isCount) = (chance(30) ? "n" : "notes", chance(40), chance(20))
    var parameters: [(String, String)] = []
    var rules: [(ModelRow) -> Bool?] = []
    if chance(50) {
      let test = noteTest()
      parameters.append(("\(name).\(test.column)", test.parameter))
      rules.append(test.holds)
    }
    if chance(25) {
      let tree = tree(of: "\(name).") { $0.noteTest() }
      parameters.append((tree.name, tree.text))
      rules.append(tree.holds)
    }
    let orders = noteOrders().filter { _ in chance(30) }
    let (limit, offset): (Int?, Int) = isCount ? (nil, 0) : (chance(30) ? pick([0, 1, 2]) : nil, chance(20) ? 1 : 0)
    if !isCount, !orders.isEmpty {
      parameters.append(("\(name).order", orders.map(\.text).joined(separator: ",")))
    }
    if let limit { parameters.append(("\(name).limit", "\(limit)")) }
    if offset > 0 { parameters.append(("\(name).offset", "\(offset)")) }
    // `notes=is.null`: those that have none.
    let existence: Bool? = chance(15) ? chance(50) : nil
    if let existence { parameters.append((name, existence ? "not.is.null" : "is.null")) }
    let all = rules
    func notes(_ place: ModelRow) -> [ModelRow] {
      place.notes.filter { note in all.allSatisfy { $0(note) == true } }
    }
    let alias = name == "n" ? "n:notes" : "notes"
    return ModelEmbed(
      text: "\(alias)\(isInner ? "!inner" : "")(\(isCount ? "count" : "points,text"))", parameters: parameters,
      keeps: { place in
        let isEmpty = notes(place).isEmpty
        return (!isInner || !isEmpty) && (existence.map { $0 != isEmpty } ?? true)
      },
      json: { place in
        let found = notes(place)
        if isCount { return "\"\(name)\":[{\"count\":\(found.count)}]" }
        let page = found.sorted { ModelOrder.isBefore($0, $1, by: orders) }.dropFirst(offset).prefix(limit ?? 1000)
        let rows = page.map { note in
          "{\"points\":\((note.values["points"] ?? .null).json),\"text\":\((note.values["text"] ?? .null).json)}"
        }
        return "\"\(name)\":[\(rows.joined(separator: ","))]"
      })
  }

  /// `places!inner(stars,code)`, or its members among the note's own. The caller may not see the place.
  mutating func placeEmbed() -> ModelEmbed {
    let (isInner, isSpread) = (chance(40), chance(30))
    var parameters: [(String, String)] = []
    var rule: (ModelRow) -> Bool? = { _ in true }
    if chance(50) {
      let test = test()
      parameters.append(("places.\(test.column)", test.parameter))
      rule = test.holds
    }
    let holds = rule
    func place(_ note: ModelRow) -> ModelRow? { note.place.flatMap { holds($0) == true ? $0 : nil } }
    return ModelEmbed(
      text: "\(isSpread ? "..." : "")places\(isInner ? "!inner" : "")(stars,code)", parameters: parameters,
      keeps: { !isInner || place($0) != nil },
      json: { note in
        let found = place(note)
        let members = ["stars", "code"].map { "\"\($0)\":\((found?.values[$0] ?? .null).json)" }.joined(separator: ",")
        if isSpread { return members }
        return "\"places\":\(found == nil ? "null" : "{\(members)}")"
      }, place: place)
  }
}
