/// Finds the value of one member of a JSON object whose text arrives in parts, and keeps nothing of it.
struct JSONMemberFinder {
  private let quotedName: [UInt8]
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The last name in the outermost object, with its quotes.
  private var name: [UInt8] = []
  private var isBeforeName = true
  private var isInValue = false
  private(set) var hasFound = false
  /// Whether the object has ended.
  private(set) var hasEnded = false

  /// - Parameter name: one that is written without escapes.
  init(_ name: String) { quotedName = Array("\"\(name)\"".utf8) }

  /// Which bytes of the next part belong to the value.
  mutating func range(in part: UnsafeRawBufferPointer) -> Range<Int> {
    var range = 0..<(isInValue ? part.count : 0)
    for (index, byte) in part.enumerated() {
      if isInString {
        advance(inString: byte)
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        if depth == 1, isBeforeName { name = [byte] }
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ":") where depth == 1:
        isBeforeName = false
        guard name == quotedName else { continue }
        (isInValue, hasFound) = (true, true)
        range = index + 1..<part.count
      case UInt8(ascii: ",") where depth == 1:
        isBeforeName = true
        endValue(at: index, &range)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        guard depth == 0 else { continue }
        hasEnded = true
        endValue(at: index, &range)
      default: break
      }
    }
    return range
  }

  private mutating func advance(inString byte: UInt8) {
    // A name that is longer is another one.
    if depth == 1, isBeforeName, name.count <= quotedName.count { name.append(byte) }
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
    }
  }

  private mutating func endValue(at index: Int, _ range: inout Range<Int>) {
    guard isInValue else { return }
    isInValue = false
    range = range.lowerBound..<index
  }
}
