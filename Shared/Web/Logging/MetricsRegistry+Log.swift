import Prometheus

extension MetricsRegistry {
  /// Registers the metrics of the log of this process.
  package func addLogMetrics() {
    counter("kith_log_lines_dropped_total", "Log lines that could not be written.") { LogQueue.output.droppedCount }
  }
}
