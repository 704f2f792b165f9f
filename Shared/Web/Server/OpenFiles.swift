#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The limit of open file descriptors of this process. Each connection takes one.
package enum OpenFiles {
  /// Raises the soft limit to the hard limit, at most 1,048,576. Does nothing when the system refuses. Safe to repeat.
  package static func raiseLimit() {
    var limit = rlimit()
    #if canImport(Glibc)
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let files = RLIMIT_NOFILE
    #endif
    guard getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = min(limit.rlim_max, 1_048_576)
    _ = setrlimit(files, &limit)
  }
}
