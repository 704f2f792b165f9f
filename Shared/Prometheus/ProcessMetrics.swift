import Foundation

extension MetricsRegistry {
  /// Registers the process metrics of the operating system, with the names that Prometheus' client libraries use. Some
  /// need `/proc`, which only Linux has.
  package func addProcessMetrics() {
    gauge("process_resident_memory_bytes", "Resident memory.") { Self.sample(residentBytes) }
    gauge("process_open_fds", "Open file descriptors.") { Self.sample(openFiles) }
    gauge("process_max_fds", "How many may be open.") { Self.sample(filesMax) }
    let started = Date().timeIntervalSince1970
    gauge("process_start_time_seconds", "When it started, in seconds since 1970.") { [([], started)] }
  }

  private static func sample(_ value: Int?) -> [(values: [String], value: Double)] {
    value.map { [([], Double($0))] } ?? []
  }
}

private var residentBytes: Int? {
  // `try?`: without /proc there is no value.
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
  return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
}

private var openFiles: Int? {
  // `try?`: as above. One of the descriptors is that of the directory being read.
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
}

private var filesMax: Int? {
  let value = sysconf(Int32(_SC_OPEN_MAX))
  return value > 0 ? Int(value) : nil
}
