import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// How many groups without limits one may be in, as their owner or as a member.
@Suite struct GroupTableBoundTests {
  private static let groupsMax = 400

  @Test(arguments: engines) func theGroupsOfOneUserHaveABound(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let many = Array(repeating: #"{"name":"x"}"#, count: Self.groupsMax - 3).joined(separator: ",")
      #expect(try await alice.rest(.POST, "social_groups", "[\(many)]", prefer: "return=minimal").status == 201)
      var others: [GroupRow] = []
      for number in 1...6 { others.append(try await bob.groupRow("Bob's \(number)")) }
      // None of them would see the others', if they did not wait.
      let replies = try await atOnce(12) { [others] number in
        let isMade = number.isMultiple(of: 2)
        let reply =
          try await isMade
          ? alice.rest(.POST, "social_groups", #"{"name":"more"}"#) : alice.join(others[number / 2].code)
        return reply.status < 300 ? "done" : "\(reply.status) \(reply.string("code")) \(reply.errorCode)"
      }
      let expected = Array(repeating: "400 54000 VALIDATION_ERROR", count: 9) + Array(repeating: "done", count: 3)
      #expect(replies.sorted() == expected)
      #expect(try await alice.rest(.GET, "social_groups?select=count").text == #"[{"count":\#(Self.groupsMax)}]"#)

      let another = try await bob.groupRow("Another")
      let row = #"{"group_id":"\#(another.id)","invite_code":"\#(another.code)"}"#
      for prefer in ["return=representation", "resolution=ignore-duplicates"] {
        let refused = try await alice.rest(.POST, "group_members", row, prefer: prefer)
        #expect(refused.status == 400 && refused.string("code") == "54000", "\(refused.text)")
      }
      #expect(try await bob.members(of: another) == [bob.id.description])
      // Several are made together or not at all.
      let two = try await bob.rest(.POST, "social_groups", #"[{"name":"y"},{"name":"y"}]"#)
      #expect(two.status == 201, "\(two.text)")
      // What is there may be changed, groups with limits are not affected, and a closed one makes room.
      #expect(try await alice.rest(.PATCH, "social_groups?name=eq.x&order=id&limit=1", #"{"name":"z"}"#).status == 200)
      _ = try await alice.group("Daily")
      for name in ["Daily", "z"] {
        #expect(try await alice.rest(.DELETE, "social_groups?name=eq.\(name)").status == 204)
      }
      let none = try await alice.rest(.POST, "social_groups", #"[{"name":"y"},{"name":"y"}]"#)
      #expect(none.status == 400 && none.string("code") == "54000", "\(none.text)")
      #expect(try await alice.rest(.POST, "group_members", row).status == 201)
      #expect(try await alice.rest(.POST, "social_groups", #"{"name":"more"}"#).status == 400)
    }
  }
}
