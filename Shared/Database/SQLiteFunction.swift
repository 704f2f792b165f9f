import Foundation
import GRDB

/// A function in SQL on SQLite that is written in Swift. Its result must depend on its arguments only.
package struct SQLiteFunction: Sendable {
  let name: String
  let argumentCount: Int
  private let body: @Sendable ([FunctionArgument]) throws -> FunctionResult

  /// - Parameter body: a thrown error fails the statement.
  package init(
    _ name: String, argumentCount: Int, _ body: @escaping @Sendable ([FunctionArgument]) throws -> FunctionResult
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.body = body
  }

  func add(to db: GRDB.Database) {
    db.add(
      function: DatabaseFunction(name, argumentCount: argumentCount, pure: true) { [body] arguments in
        // SQLite itself asks only after many instructions, each of which may be a call.
        guard !StatementDeadline.isOver else { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
        return switch try body(arguments.map(FunctionArgument.init)) {
        case .null: nil
        case .bool(let value): value
        case .number(let value): value
        case .text(let value): value
        }
      })
  }
}

/// An argument of a ``SQLiteFunction``: null, a number, or text.
package enum FunctionArgument: Sendable {
  case null, number(Double), text(String)

  fileprivate init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let number): self = .number(Double(number))
    case .double(let number): self = .number(number)
    case .string(let text): self = .text(text)
    case .blob(let data): self = .text(String(decoding: data, as: UTF8.self))
    }
  }

  /// What SQL's cast to text gives, nil for null.
  package var text: String? {
    switch self {
    case .null: nil
    case .number(let number): Int64(exactly: number).map(String.init) ?? "\(number)"
    case .text(let text): text
    }
  }
}

/// The result of a ``SQLiteFunction``.
package enum FunctionResult: Sendable {
  case null, bool(Bool), number(Double), text(String)
}

/// Counts the steps of a function whose time grows with the product of its arguments, and ends it when the statement
/// that calls it has taken too long.
package struct FunctionSteps {
  private var count: UInt = 0
  /// How many steps there are between two looks at the clock.
  private static let interval: UInt = 256

  package init() {}

  /// - Throws: what fails the statement as one that has taken too long.
  package mutating func next() throws {
    count &+= 1
    guard count.isMultiple(of: Self.interval), StatementDeadline.isOver else { return }
    throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
  }
}
