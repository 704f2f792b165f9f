import Hummingbird
import Web
import Wire

/// The page of a collection that a request asks for, numbered from 1. Only the clients of lists number pages: credits are
/// paged by `limit` and `offset`, collections by `skip` and `take`, as their clients send it.
struct Page: Sendable {
  let number: Int
  let size: Int

  var offset: Int { (number - 1) * size }
  static let numberMax = 4000
  static let sizeMax = 50
  static let defaultSize = 25
}

extension Request {
  /// nil when the query has neither `page` nor `per_page`; the response then contains everything.
  ///
  /// - Throws: 422 for numbers out of range.
  func page() throws -> Page? {
    let query = uri.queryParameters
    guard query["page"] != nil || query["per_page"] != nil else { return nil }
    return Page(
      number: try queryNumber("page", default: 1, in: 1...Page.numberMax),
      size: try queryNumber("per_page", default: Page.defaultSize, in: 1...Page.sizeMax))
  }
}
