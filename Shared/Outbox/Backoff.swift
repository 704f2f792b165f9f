/// Exponential backoff with jitter: the delay doubles with each failed try, up to a limit.
package struct Backoff: Sendable {
  package let first: Duration
  package let longest: Duration

  package init(first: Duration = .seconds(2), longest: Duration = .seconds(3600)) {
    self.first = first
    self.longest = longest
  }

  /// - Parameter tries: how many tries have failed, from 1.
  package func delay(after tries: Int) -> Duration {
    let doubled = first * Double(1 << min(max(tries, 1) - 1, 20))
    return min(doubled, longest) * Double.random(in: 0.75...1.25)
  }
}
