import Foundation
import Testing
import Wire

/// A delivery that is made from a tree is the one that the decoder makes.
@Suite struct FeedBatchTests {
  private static let user = #""01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a17""#

  private static let whole = """
    {"more":1,"events":[
      {"id":"01A1FD2C-bd4b-7c1e-8a42-5d3f0b9e6a18","topics":["lists:42","users:7"],"name":"task_changed",
       "payload":{"number":1.0,"text":"\\u00e9\\n","list":[null,true,1e3]},"at":"2026-11-21T08:15:30.123Z",
       "change":{"schema":"public","table":"tasks","type":"UPDATE","record":{"id":1},"old_record":{"id":null}},
       "access":[{"topic":"lists:42","user_id":\(user),"may_read":true}],"hidden_from":[\(user)],
       "push":{"recipients":[\(user)],"readers_of":"lists:42","actor":\(user),"subject":"Milk",
         "expires_at":"2026-11-21T08:15:30Z"}},
      {"id":"01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a19","topics":[],"name":"a","payload":{},"at":"2026-11-21T08:15:30Z"}]}
    """

  private func decoded(_ tree: JSONTree) throws -> FeedBatch {
    try JSON.decode(FeedBatch.self, from: Data(tree.text.utf8))
  }

  @Test func allOfItIsRead() throws {
    let tree = try JSONReader.tree(of: Self.whole)
    let (batch, wanted) = (try FeedBatch(tree), try decoded(tree))
    #expect(batch.events == wanted.events)
    #expect(batch.events.count == 2 && batch.events[0].push?.subject == "Milk" && batch.events[1].push == nil)
  }

  /// Where a value is missing or another one, the tree is refused, or what it makes is what the decoder makes.
  @Test func nothingIsReadThatTheDecoderRefuses() throws {
    let others: [JSONTree] = [.null, .number("1"), .bool(true), .string("x"), .array([]), .object([])]
    var (read, refused) = (0, 0)
    for tree in variants(of: try JSONReader.tree(of: Self.whole), others) {
      // `try?`: it is refused.
      if let batch = try? FeedBatch(tree) {
        let wanted = try decoded(tree)
        #expect(batch.events == wanted.events, "\(tree.text)")
        read += 1
      } else {
        #expect(throws: DecodingError.self, "\(tree.text)") { try decoded(tree) }
        refused += 1
      }
    }
    // The premise.
    #expect(read > 50 && refused > 100)
  }

  /// The tree, in each case with one value missing or replaced.
  private func variants(of tree: JSONTree, _ others: [JSONTree]) -> [JSONTree] {
    switch tree {
    case .object(let members):
      return others
        + members.indices.flatMap { index -> [JSONTree] in
          let without = JSONTree.object(members.enumerated().filter { $0.offset != index }.map(\.element))
          let changed = variants(of: members[index].value, others).map { value -> JSONTree in
            var changed = members
            changed[index].value = value
            return .object(changed)
          }
          return [without] + changed
        }
    case .array(let elements):
      return others
        + elements.indices.flatMap { index -> [JSONTree] in
          variants(of: elements[index], others).map { value -> JSONTree in
            var changed = elements
            changed[index] = value
            return .array(changed)
          }
        }
    case .null, .bool, .number, .string: return others
    }
  }
}
