import Wire

/// Decides which traces are sampled.
package struct Sampler: Sendable {
  /// The share of traces that are sampled, in units of 2⁻⁶³.
  private let share: UInt64
  /// Whether the parent's decision for the trace is followed.
  private let isParentBased: Bool

  /// - Parameter ratio: from 0 to 1; nil for anything else.
  package init?(ratio: Double, isParentBased: Bool = true) {
    guard (0...1).contains(ratio) else { return nil }
    share = UInt64(ratio * 0x1p63)
    self.isParentBased = isParentBased
  }

  /// Whether to sample a trace.
  ///
  /// - Parameter isTrusted: whether `parent` comes from a service. Any other client may opt out of sampling, but cannot
  ///   get more than the share, nor choose a trace id that is always in the share.
  func samples(_ trace: UInt128, under parent: SpanContext?, isTrusted: Bool) -> Bool {
    guard let parent else { return isInShare(trace) }
    if isParentBased {
      guard parent.isSampled else { return false }
      if isTrusted { return true }
    }
    return isInShare(isTrusted ? trace : .random(in: .min ... .max))
  }

  /// Depends on the trace id alone, so that all processes with the same ratio decide alike.
  private func isInShare(_ trace: UInt128) -> Bool { UInt64(truncatingIfNeeded: trace) >> 1 < share }
}
