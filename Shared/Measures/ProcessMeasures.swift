import Foundation

extension Registry {
  /// What the operating system knows of this process, under the names that Prometheus' own clients use. Only on Linux,
  /// which has `/proc`.
  package func addProcess() {
    gauge("process_resident_memory_bytes", "Resident memory.") { Self.one(residentBytes) }
    gauge("process_open_fds", "Open file descriptors.") { Self.one(openFiles) }
    gauge("process_max_fds", "How many may be open.") { Self.one(filesMax) }
    let started = Date().timeIntervalSince1970
    gauge("process_start_time_seconds", "When it started, in seconds since 1970.") { [([], started)] }
  }

  private static func one(_ value: Int?) -> [(values: [String], value: Double)] {
    value.map { [([], Double($0))] } ?? []
  }
}

private var residentBytes: Int? {
  // `try?`: without /proc there is nothing to tell.
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
  return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
}

private var openFiles: Int? {
  // `try?`: as above. One of them is the folder that is being read.
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
}

private var filesMax: Int? {
  let value = sysconf(Int32(_SC_OPEN_MAX))
  return value > 0 ? Int(value) : nil
}
