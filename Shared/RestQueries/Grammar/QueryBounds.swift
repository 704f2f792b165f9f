/// The largest query and body that are accepted: what a statement may cost is decided before it is composed.
package enum QueryBounds {
  /// Of the query in the URL.
  static let textBytesMax = 16_384
  /// Filters, also within logic trees.
  static let conditionsMax = 100
  /// Regular expressions: the only conditions whose time grows with the product of two lengths.
  static let expressionsMax = 4
  /// Of logic trees, and of JSON paths.
  static let nestingMax = 8
  /// Of resources within resources.
  static let embeddingMax = 5
  static let resourcesMax = 16
  /// Of one resource: PostgreSQL's functions take a hundred arguments.
  static let selectedColumnsMax = 60
  static let orderTermsMax = 16
  /// Of `in`, of arrays, and of `any` and `all`.
  static let listMax = 500
  /// Of JSON that rows are compared with, whose time grows with the product of the two.
  static let jsonValuesMax = 500
  /// Of an answer, and of one embedded array. A larger `limit` is lowered to it.
  package static let rowsMax = 1000
  /// Of an answer: of the values that are read for it, and of the text that they become.
  package static let answerBytesMax = 16 * 1024 * 1024
  static let offsetMax = 1_000_000_000
  /// Of the array in a body.
  package static let bodyRowsMax = 1000
}
