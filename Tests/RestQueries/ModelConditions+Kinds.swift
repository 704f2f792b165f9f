import Foundation

/// Times, ids, lists of texts, and the modifiers `any` and `all`.
extension ModelConditions {
  /// The same time as different clients write it.
  private static func spellings(_ seconds: Int) -> [String] {
    [
      "\(clock(seconds))Z", "\(clock(seconds)).000Z", clock(seconds), "\(clock(seconds + 7200))+02:00",
      clock(seconds).replacing("T", with: " ") + "+00",
    ]
  }

  /// `2024-01-15T00:00:00`, for times of that day and the next.
  static func clock(_ seconds: Int) -> String {
    let (day, rest) = (seconds / 86_400, seconds % 86_400)
    let parts = [rest / 3600, rest / 60 % 60, rest % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "\(date(day))T\(parts.joined(separator: ":"))"
  }

  static func date(_ day: Int) -> String { "2024-01-\(15 + day)" }

  mutating func times() -> ModelTest {
    let (word, isTrue) = comparison()
    if chance(40) {
      let wanted = Int.random(in: 0...3, using: &random)
      return negated("visited_on", "\(word).", Self.date(wanted)) { row in
        guard case .day(let day) = row.values["visited_on"] else { return nil }
        return isTrue(day < wanted ? -1 : day > wanted ? 1 : 0)
      }
    }
    let wanted = pick([0, 1, 3600, 86_400])
    return negated("seen_at", "\(word).", pick(Self.spellings(wanted)), isText: true) { row in
      guard case .time(let time) = row.values["seen_at"] else { return nil }
      return isTrue(time < wanted ? -1 : time > wanted ? 1 : 0)
    }
  }

  /// In either case of letters.
  mutating func ids() -> ModelTest {
    let wanted = (0..<Int.random(in: 1...5, using: &random)).map { _ in
      ModelData.id(Int.random(in: 0..<60, using: &random) * 10)
    }
    let texts = chance(50) ? wanted : wanted.map { $0.uppercased() }
    if texts.count == 1 {
      return negated("id", "eq.", texts[0]) { $0.id == wanted[0] }
    }
    return negated("id", "in.", "(\(texts.joined(separator: ",")))") { wanted.contains($0.id) }
  }

  mutating func textIsIn() -> ModelTest {
    let wanted = (0..<Int.random(in: 1...4, using: &random)).map { _ in pick(Self.words.filter { !$0.isEmpty }) }
    let list = wanted.map { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
    return negated("code", "in.", "(\(list.joined(separator: ",")))") { row in
      guard case .text(let value) = row.values["code"] else { return nil }
      return wanted.contains { Self.order($0, value) == 0 }
    }
  }

  /// `gt(any).{1,3}`, `like(all).{a*,*b}`. Without an element `any` is false and `all` is true, also of null.
  mutating func quantified() -> ModelTest {
    let isAny = chance(50)
    let modifier = isAny ? "any" : "all"
    func combined(_ values: [Bool?]) -> Bool? {
      if values.contains(isAny) { return isAny }
      return values.contains(nil) ? nil : !isAny
    }
    if chance(50) {
      let (word, isTrue) = pick(orders + [("eq", { $0 == 0 })])
      let wanted: [Int?] = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        chance(10) ? nil : Int.random(in: -1...5, using: &random)
      }
      let list = wanted.map { $0.map(String.init) ?? "null" }.joined(separator: ",")
      return negated("stars", "\(word)(\(modifier)).", "{\(list)}") { row in
        guard case .integer(let value) = row.values["stars"] else { return nil }
        return combined(wanted.map { $0.map { isTrue(value < $0 ? -1 : value > $0 ? 1 : 0) } })
      }
    }
    let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in pick(["a", "b", "A", "é"]) }
    let word = chance(50) ? "like" : "ilike"
    return negated("code", "\(word)(\(modifier)).", "{\(parts.map { "*\($0)*" }.joined(separator: ","))}") { row in
      combined(
        parts.map { part in
          guard case .text(let value) = row.values["code"] else { return nil }
          return word == "like" ? value.contains(part) : value.lowercased().contains(part.lowercased())
        })
    }
  }
}
