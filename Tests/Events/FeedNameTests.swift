import Testing

@testable import Events

@Suite struct FeedNameTests {
  @Test(arguments: [
    "lists:42", "users:0190f5d2-7d1b-7c5e-9f0a-1b2c3d4e5f60", "a:b", "eta_shares:A_b-9", "lists:", ":42", "lists", "",
    "Lists:42", "li sts:42", "_lists:42", "lists:4 2", "lists:42:43", "lists:é", "é:42", "lists:42\n",
    "\(String(repeating: "a", count: 32)):1", "\(String(repeating: "a", count: 33)):1",
    "a:\(String(repeating: "1", count: 64))", "a:\(String(repeating: "1", count: 65))",
  ])
  func topicsAreWhatTheExpressionSays(_ text: String) {
    #expect(FeedNames.isTopic(text) == (text.wholeMatch(of: /[a-z][a-z_]{0,31}:[A-Za-z0-9_\-]{1,64}/) != nil))
  }

  @Test(arguments: [
    "task_changed", "a", "a9", "9a", "_a", "", "Task", "task-changed", "té", "a b", "a\n",
    String(repeating: "a", count: 64), String(repeating: "a", count: 65),
  ])
  func eventsAreWhatTheExpressionSays(_ text: String) {
    #expect(FeedNames.isEvent(text) == (text.wholeMatch(of: /[a-z][a-z0-9_]{0,63}/) != nil))
  }
}
