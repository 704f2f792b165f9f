import Foundation
import Testing
import Wire

extension JSONReadable {
  /// Expects that a body is read as the decoder reads it. Where a value is missing or another one, it is, too, or is
  /// refused, and then so it is by the decoder.
  ///
  /// - Parameters:
  ///   - whole: with all members.
  ///   - least: how many variants must be read, and how many refused.
  ///   - isRefused: whether a body that the decoder accepts is refused later.
  ///   - value: what is compared.
  package static func expectReadsWhatItDecodes(
    _ whole: String, least: (read: Int, refused: Int), isRefused: (Self) -> Bool = { _ in false },
    as value: (Self) throws -> some Equatable
  ) throws {
    let tree = try JSONReader.tree(of: whole)
    #expect(try value(Self(json: Array(whole.utf8))) == value(decoded(tree)))
    let others: [JSONTree] = [.null, .number("1"), .number("1.5"), .bool(true), .string("x"), .array([]), .object([])]
    var (read, refused) = (0, 0)
    for tree in tree.variants(others) {
      // `try?`: it is refused.
      if let body = try? Self(json: Array(tree.text.utf8)) {
        #expect(try value(body) == value(decoded(tree)), "\(tree.text)")
        read += 1
      } else {
        do { #expect(try isRefused(decoded(tree)), "\(tree.text)") } catch is DecodingError {}
        refused += 1
      }
    }
    // The premise.
    #expect(read > least.read && refused > least.refused)
  }

  private static func decoded(_ tree: JSONTree) throws -> Self {
    try JSON.decodeByDecoder(Self.self, from: Data(tree.text.utf8))
  }
}

extension JSONTreeReadable where Self: Encodable & Equatable {
  package static func expectReadsWhatItDecodes(_ whole: String, least: (read: Int, refused: Int)) throws {
    try expectReadsWhatItDecodes(whole, least: least) { $0 }
  }

  /// Expects that the tree of what is encoded makes it again, for 300 values.
  package static func expectReadsWhatItEncodes() throws {
    for seed in 0..<300 as Range<UInt64> {
      let value = try RandomDecoder(seed: seed).value(Self.self)
      let tree = try JSONTree(encoding: value) { RFC3339.milliseconds($0) }
      guard try Self(tree) == value else { return #expect(Bool(false), "\(tree.text)") }
    }
  }
}

extension JSONTree {
  /// The tree, in each case with one value missing or replaced.
  fileprivate func variants(_ others: [JSONTree]) -> [JSONTree] {
    switch self {
    case .object(let members):
      others
        + members.indices.flatMap { index -> [JSONTree] in
          let without = JSONTree.object(members.enumerated().filter { $0.offset != index }.map(\.element))
          let changed = members[index].value.variants(others).map { value -> JSONTree in
            var changed = members
            changed[index].value = value
            return .object(changed)
          }
          return [without] + changed
        }
    case .array(let elements):
      others
        + elements.indices.flatMap { index -> [JSONTree] in
          elements[index].variants(others).map { value -> JSONTree in
            var changed = elements
            changed[index] = value
            return .array(changed)
          }
        }
    case .null, .bool, .number, .string: others
    }
  }
}
