import Foundation
import Synchronization

/// Random bits of the system's generator, for ids. One call of the system gives sixteen of them: a call for each takes as
/// long as all else that is done for an id. They wait in memory, so keys are not made of them.
enum RandomBits {
  private static let unused = Mutex<[UInt128]>([])
  /// What `getentropy` gives at most, in bytes.
  private static let bytesMax = 256

  static func next() -> UInt128 {
    unused.withLock { unused in
      if unused.isEmpty { unused = many() }
      return unused.removeLast()
    }
  }

  private static func many() -> [UInt128] {
    var bits = [UInt128](repeating: 0, count: bytesMax / MemoryLayout<UInt128>.size)
    let isFilled = bits.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
    return isFilled ? bits : bits.map { _ in .random(in: .min ... .max) }
  }
}
