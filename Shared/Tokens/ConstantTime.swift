/// Comparison of secrets and signatures.
package enum ConstantTime {
  /// Compares in a time that depends on the counts only, not on where the bytes differ.
  package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
