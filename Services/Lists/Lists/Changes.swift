import Foundation
import Tokens
import Wire

/// How far somebody has seen the lists that they are in: the revision of each. Whatever differs from that is news, in
/// whichever order the changes were committed.
struct ListsCursor: Sendable {
  private let revisions: [Int: Int]

  init(_ lists: [List]) {
    self.init(lists.reduce(into: [:]) { $0[$1.id] = $1.revision })
  }

  init(_ revisions: [Int: Int]) { self.revisions = revisions }

  /// - Throws: 422 for text that is not from here.
  init(_ text: String) throws(Failure) {
    guard let bytes = Base64URL.decode(Array(text.utf8)), bytes.first == 1,
      let numbers = Varints.decode(bytes.dropFirst()), numbers.count.isMultiple(of: 2)
    else { throw .invalidCursor }
    var (revisions, id) = ([Int: Int](), 0)
    for index in stride(from: 0, to: numbers.count, by: 2) {
      let (sum, isTooLarge) = id.addingReportingOverflow(numbers[index])
      if isTooLarge { throw .invalidCursor }
      id = sum
      revisions[id] = numbers[index + 1]
    }
    self.revisions = revisions
  }

  var ids: Set<Int> { Set(revisions.keys) }

  func isNews(_ list: Int, at revision: Int) -> Bool { revisions[list] != revision }

  /// Short, as it travels in a query: ids as differences, everything in as few bytes as it takes.
  var text: String {
    var (bytes, last) = ([UInt8(1)], 0)
    for (id, revision) in revisions.sorted(by: { $0.key < $1.key }) {
      bytes += Varints.encode(id - last) + Varints.encode(revision)
      last = id
    }
    return Base64URL.encode(bytes)
  }
}

/// How far somebody has seen the tasks of one list: the last one in the order of revisions.
struct TasksCursor: Sendable {
  let list: Int
  let revision: Int
  /// Several tasks may have changed at one revision.
  let task: Int

  init(list: Int, revision: Int, task: Int = .max) {
    self.list = list
    self.revision = revision
    self.task = task
  }

  /// - Throws: 422 for text that is not from here, or from another list.
  init(_ text: String, of list: Int) throws(Failure) {
    guard let bytes = Base64URL.decode(Array(text.utf8)), bytes.first == 2,
      let numbers = Varints.decode(bytes.dropFirst()), numbers.count == 3, numbers[0] == list
    else { throw .invalidCursor }
    self.init(list: list, revision: numbers[1], task: numbers[2])
  }

  var text: String {
    Base64URL.encode([UInt8(2)] + [list, revision, task].flatMap { Varints.encode($0) })
  }
}

/// Numbers from 0 in seven bits a byte, the lowest first, the eighth bit saying that there are more.
enum Varints {
  static func encode(_ number: Int) -> [UInt8] {
    var (bytes, left) = ([UInt8](), UInt64(clamping: number))
    while left >= 0x80 {
      bytes.append(UInt8(left & 0x7F) | 0x80)
      left >>= 7
    }
    return bytes + [UInt8(left)]
  }

  /// nil when the last number is cut off, or one does not fit.
  static func decode(_ bytes: some Sequence<UInt8>) -> [Int]? {
    var (numbers, number, shift) = ([Int](), 0, 0)
    for byte in bytes {
      guard shift < 63 else { return nil }
      number |= Int(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 == 0 {
        numbers.append(number)
        (number, shift) = (0, 0)
      }
    }
    return shift == 0 ? numbers : nil
  }
}

extension Failure {
  static let invalidCursor = Failure.invalid(.init("since", "is not a cursor of this list; leave it out to start anew"))
}
