/// How long to wait before the next try: twice as long each time, up to a limit, and never quite the same.
package struct Backoff: Sendable {
  package let first: Duration
  package let longest: Duration

  package init(first: Duration = .seconds(2), longest: Duration = .seconds(3600)) {
    self.first = first
    self.longest = longest
  }

  /// - Parameter tries: how many have failed, from 1.
  package func wait(after tries: Int) -> Duration {
    let doubled = first * Double(1 << min(max(tries, 1) - 1, 20))
    return min(doubled, longest) * Double.random(in: 0.75...1.25)
  }
}
