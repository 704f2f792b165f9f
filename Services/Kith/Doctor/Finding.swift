/// What `kith doctor` found about one part of an installation.
struct Finding: Sendable, Equatable {
  enum Severity: String, Sendable, Comparable {
    case ok, warning, problem

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { [.ok: 0, .warning: 1][self] ?? 2 }
  }

  let severity: Severity
  /// `clock`, `database` and so on.
  let part: String
  let text: String
  /// What to do about it.
  var mend: String?

  static func ok(_ part: String, _ text: String) -> Finding { Finding(severity: .ok, part: part, text: text) }

  static func warning(_ part: String, _ text: String, mend: String) -> Finding {
    Finding(severity: .warning, part: part, text: text, mend: mend)
  }

  static func problem(_ part: String, _ text: String, mend: String) -> Finding {
    Finding(severity: .problem, part: part, text: text, mend: mend)
  }

  /// One line, or two with what to do.
  var lines: String {
    func padded(_ text: String, to count: Int) -> String {
      text + String(repeating: " ", count: max(count - text.count, 0))
    }
    let line = "\(padded(severity.rawValue, to: 7))  \(padded(part, to: 18))  \(text)"
    guard let mend else { return line }
    return "\(line)\n\(padded("", to: 29))→ \(mend)"
  }
}
