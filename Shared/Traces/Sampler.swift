import Wire

/// Decides which traces are told of.
package struct Sampler: Sendable {
  /// Of all traces, so many in 2⁶³.
  private let share: UInt64
  /// Whether a service that has decided for the whole trace is followed.
  private let heedsParent: Bool

  /// - Parameter ratio: from 0 to 1; nil for anything else.
  package init?(ratio: Double, heedsParent: Bool = true) {
    guard (0...1).contains(ratio) else { return nil }
    share = UInt64(ratio * 0x1p63)
    self.heedsParent = heedsParent
  }

  /// - Parameter isTrusted: whether `parent` is what a service says. A stranger may ask for silence, but not for more than
  ///   the share, nor may it choose a trace's id by which it would be in the share every time.
  func takes(_ trace: UInt128, under parent: SpanContext?, isTrusted: Bool) -> Bool {
    guard let parent else { return isInShare(trace) }
    if heedsParent {
      guard parent.isSampled else { return false }
      if isTrusted { return true }
    }
    return isInShare(isTrusted ? trace : .random(in: .min ... .max))
  }

  /// By the trace's id alone, so that every process with the same ratio decides the same.
  private func isInShare(_ trace: UInt128) -> Bool { UInt64(truncatingIfNeeded: trace) >> 1 < share }
}
