/// Writes metrics in Prometheus' text format 0.0.4.
package struct PrometheusText {
  package enum Kind: String { case counter, gauge, histogram }

  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  package private(set) var string = ""

  package init() {}

  /// Writes the `HELP` and `TYPE` lines of a metric.
  ///
  /// - Parameter help: one line.
  package mutating func head(_ name: String, _ kind: Kind, _ help: String) {
    string += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  /// Writes one sample of a metric.
  package mutating func line(_ name: String, _ labels: [String] = [], _ values: [String] = [], _ value: Double) {
    string += name + Self.braces(zip(labels, values).map { ($0, $1) }) + " \(Self.number(value))\n"
  }

  package mutating func histogram(
    _ name: String, _ labels: [String], _ values: [String], _ dataPoint: Histogram.DataPoint
  ) {
    let pairs = zip(labels, values).map { ($0, $1) }
    var sum = 0
    for (bound, count) in zip(Histogram.bounds, dataPoint.buckets) {
      sum += count
      string += "\(name)_bucket\(Self.braces(pairs + [("le", Self.number(bound))])) \(sum)\n"
    }
    sum += dataPoint.buckets.last ?? 0
    string += "\(name)_bucket\(Self.braces(pairs + [("le", "+Inf")])) \(sum)\n"
    string += "\(name)_sum\(Self.braces(pairs)) \(Self.number(dataPoint.seconds))\n"
    string += "\(name)_count\(Self.braces(pairs)) \(sum)\n"
  }

  private static func braces(_ pairs: [(String, String)]) -> String {
    guard !pairs.isEmpty else { return "" }
    return "{" + pairs.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// Integers are written without a decimal point.
  private static func number(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }
}
