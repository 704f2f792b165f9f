import Synchronization
import Wire

/// The value of the `Date` header, formatted once a second.
final class DateHeader: Sendable {
  private let cached = Mutex((second: 0, text: ""))

  var value: String {
    let second = HTTPDate.now()
    return cached.withLock { cached in
      if cached.second != second { cached = (second, HTTPDate.text(second)) }
      return cached.text
    }
  }
}
