import Foundation
import Support

/// A random query on places or on notes, and the answer that the model has for it.
struct ModelQuery {
  let table: String
  private(set) var parameters: [(String, String)] = []
  /// The header `Range`.
  private(set) var range: String?
  private(set) var offset = 0
  private var rules: [(ModelRow) -> Bool?] = []
  private var columns: [ModelColumn] = []
  private var embed: ModelEmbed?
  private var orders: [ModelOrder] = []
  private var limit: Int?

  init(_ random: inout ModelConditions) {
    table = random.chance(80) ? "places" : "notes"
    let isPlaces = table == "places"
    columns = isPlaces ? random.placeColumns() : random.noteColumns()
    for _ in 0..<random.pick([0, 1, 1, 2]) { add(isPlaces ? random.test() : random.noteTest()) }
    if random.chance(40) { addTree(&random) }
    if random.chance(40) {
      let embed = isPlaces ? random.notesEmbed() : random.placeEmbed()
      parameters += embed.parameters
      rules.append { row in embed.keeps(row) }
      self.embed = embed
    }
    let selected = columns.map(\.text) + (embed.map { [$0.text] } ?? [])
    parameters.append(("select", selected.joined(separator: ",")))
    addPage(&random)
  }

  var text: String {
    parameters.map { name, value in "\(Self.encoded(name))=\(Self.encoded(value))" }.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  private mutating func add(_ test: ModelTest) {
    parameters.append((test.column, test.parameter))
    rules.append(test.holds)
  }

  private mutating func addTree(_ random: inout ModelConditions) {
    let isPlaces = table == "places"
    let tree = random.tree { isPlaces ? $0.test() : $0.noteTest() }
    parameters.append((tree.name, tree.text))
    rules.append(tree.holds)
  }

  private mutating func addPage(_ random: inout ModelConditions) {
    for order in table == "places" ? random.placeOrders() : random.noteOrders() where random.chance(20) {
      orders.append(order)
    }
    // By the one place of a note.
    if let place = embed?.place, random.chance(30) {
      orders.append(random.order("places(stars)") { place($0)?.values["stars"] })
    }
    if !orders.isEmpty { parameters.append(("order", orders.map(\.text).joined(separator: ","))) }
    if random.chance(40) {
      limit = random.pick([0, 1, 3, 10])
      parameters.append(("limit", String(limit ?? 0)))
    }
    if random.chance(30) {
      offset = random.pick([0, 1, 5])
      parameters.append(("offset", String(offset)))
    }
    if random.chance(20) { addRange(&random) }
  }

  /// Lessens the page.
  private mutating func addRange(_ random: inout ModelConditions) {
    let first = random.pick([0, 1, 4])
    let last: Int? = random.chance(70) ? first + random.pick([0, 1, 5]) : nil
    range = "\(first)-\(last.map(String.init) ?? "")"
    let ends = [limit.map { offset + $0 }, last.map { $0 + 1 }].compactMap(\.self)
    offset = max(offset, first)
    limit = ends.min().map { max(0, $0 - offset) }
  }

  /// What the model answers, and how many rows there are on all pages.
  func answer(_ data: ModelData) -> (json: String, total: Int) {
    let rows = table == "places" ? data.places : data.notes
    let found = rows.filter { row in rules.allSatisfy { $0(row) == true } }
      .sorted { ModelOrder.isBefore($0, $1, by: orders) }
    let page = found.dropFirst(offset).prefix(limit ?? 1000).map { row in
      "{" + (columns.map { $0.json(row) } + (embed.map { [$0.json(row)] } ?? [])).joined(separator: ",") + "}"
    }
    return ("[" + page.joined(separator: ",") + "]", found.count)
  }
}

/// A logic tree as a parameter.
struct ModelTree {
  let name: String
  let text: String
  let holds: (ModelRow) -> Bool?
}

extension ModelConditions {
  /// `or=(…)`, `not.and=(…)`
  ///
  /// - Parameter path: the embedded resource to which it belongs, with a dot.
  mutating func tree(of path: String = "", test: (inout ModelConditions) -> ModelTest) -> ModelTree {
    let (isOr, isNegated) = (chance(60), chance(25))
    let (text, rule) = tree(isOr: isOr, depth: 0, test)
    return ModelTree(name: path + (isNegated ? "not." : "") + (isOr ? "or" : "and"), text: text) { row in
      rule(row).map { $0 != isNegated }
    }
  }

  private mutating func tree(
    isOr: Bool, depth: Int, _ test: (inout ModelConditions) -> ModelTest
  ) -> (String, (ModelRow) -> Bool?) {
    var items: [String] = []
    var rules: [(ModelRow) -> Bool?] = []
    for _ in 0..<pick([1, 2, 3]) {
      if depth < 3, chance(30) {
        let (isInnerOr, isNegated) = (chance(50), chance(25))
        let (text, rule) = tree(isOr: isInnerOr, depth: depth + 1, test)
        items.append((isNegated ? "not." : "") + (isInnerOr ? "or" : "and") + text)
        rules.append { row in rule(row).map { $0 != isNegated } }
      } else {
        let test = test(&self)
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
}
