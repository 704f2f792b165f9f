import Foundation
import NIOCore

/// The number of cores that this process may use, after which pools of threads are sized.
package enum AvailableCores {
  /// The cores of the process's CPU affinity (as set by `taskset`, or by Kubernetes for pods with whole cores), but at
  /// most the quota of its cgroup, rounded up.
  package static let count = min(System.coreCount, affinityCount ?? System.coreCount)

  /// Sizes SwiftNIO's pools, unless its own environment variables do. Must be called before they are used.
  ///
  /// Several event loops that share a core wait for each other for whole time slices of the scheduler: 3 to 4 ms at a
  /// time, in which the connections of the waiting one stand still. SwiftNIO knows the cgroup's quota, but not the
  /// affinity.
  static func sizePools() {
    let environment = ProcessInfo.processInfo.environment
    if environment["NIO_SINGLETON_GROUP_LOOP_COUNT"] == nil { NIOSingletons.groupLoopCountSuggestion = count }
    if environment["NIO_SINGLETON_BLOCKING_POOL_THREAD_COUNT"] == nil {
      NIOSingletons.blockingPoolThreadCountSuggestion = count
    }
  }

  /// nil on systems other than Linux.
  private static var affinityCount: Int? {
    // `try?`: only Linux has this file. The function for it, sched_getaffinity, is not imported from Glibc.
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let mask = status?.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }?.drop { $0 != ":" }
    return mask.map { mask in mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) } }
  }
}
