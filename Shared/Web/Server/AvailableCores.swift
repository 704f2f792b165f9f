import Foundation
import NIOCore

/// The number of cores that this process may use, and with it the number of its event loops.
package enum AvailableCores {
  /// The cores of the process's CPU affinity (as set by `taskset`, or by Kubernetes for pods with whole cores), but at
  /// most the quota of its cgroup, rounded up.
  package static let count = min(System.coreCount, affinityCount ?? System.coreCount)

  /// Must be called before the first use of an event loop.
  ///
  /// Several event loops that share a core wait for each other for whole time slices of the scheduler: 3 to 4 ms at a
  /// time, in which the connections of the waiting one stand still. SwiftNIO knows the cgroup's quota, but not the
  /// affinity.
  static func limitEventLoops() {
    // An operator's choice takes precedence.
    guard ProcessInfo.processInfo.environment["NIO_SINGLETON_GROUP_LOOP_COUNT"] == nil else { return }
    NIOSingletons.groupLoopCountSuggestion = count
  }

  /// nil on systems other than Linux.
  private static var affinityCount: Int? {
    // `try?`: only Linux has this file. The function for it, sched_getaffinity, is not imported from Glibc.
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let mask = status?.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }?.drop { $0 != ":" }
    return mask.map { mask in mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) } }
  }
}
