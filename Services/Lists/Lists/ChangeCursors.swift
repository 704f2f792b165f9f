import Foundation
import Tokens
import Wire

/// The cursor of `GET /api/v1/lists?since=`: the revision of each list of a user. A list whose revision differs has
/// changed, regardless of the order in which changes were committed.
struct ListsCursor: Sendable {
  private let revisions: [Int: Int]

  init(_ lists: [List]) {
    self.init(lists.reduce(into: [:]) { $0[$1.id] = $1.revision })
  }

  init(_ revisions: [Int: Int]) { self.revisions = revisions }

  /// - Throws: 422 for text that this service has not encoded.
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

  func hasChanged(_ list: Int, at revision: Int) -> Bool { revisions[list] != revision }

  /// Compact, because it is sent in a query string: IDs are delta-encoded, and all numbers are varints.
  var text: String {
    var (bytes, last) = ([UInt8(1)], 0)
    for (id, revision) in revisions.sorted(by: { $0.key < $1.key }) {
      bytes += Varints.encode(id - last) + Varints.encode(revision)
      last = id
    }
    return Base64URL.encode(bytes)
  }
}

/// The cursor of `GET /api/v1/lists/{list}/tasks?since=`: the last task that the client has received, in the order of
/// revisions.
struct TasksCursor: Sendable {
  let list: Int
  let revision: Int
  /// The task's ID, as a tie-break: several tasks may have changed at one revision.
  let task: Int

  init(list: Int, revision: Int, task: Int = .max) {
    self.list = list
    self.revision = revision
    self.task = task
  }

  /// - Throws: 422 for text that this service has not encoded, or that belongs to another list.
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

/// Non-negative integers as LEB128: seven bits per byte, least significant first, the eighth bit set when more follow.
enum Varints {
  static func encode(_ number: Int) -> [UInt8] {
    var (bytes, left) = ([UInt8](), UInt64(clamping: number))
    while left >= 0x80 {
      bytes.append(UInt8(left & 0x7F) | 0x80)
      left >>= 7
    }
    return bytes + [UInt8(left)]
  }

  /// nil when the last number is truncated, or one overflows.
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
