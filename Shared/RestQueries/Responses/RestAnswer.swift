/// The answer to a request: status, headers and body.
package struct RestAnswer: Sendable {
  package let status: Int
  /// With lower-case names.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]
  /// The ids of the rows that a write inserted, changed or deleted.
  package let changedKeys: [String]
  /// Those of them that an insert has not found there.
  package internal(set) var insertedKeys: Set<String> = []

  package init(
    status: Int, headers: [(name: String, value: String)], body: [UInt8], changedKeys: [String] = []
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.changedKeys = changedKeys
  }

  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension RestOperation {
  func answer(
    _ status: Int, rows: RowPage?, range: String, location: String? = nil, keys: [String] = []
  ) throws -> RestAnswer {
    var headers: [(name: String, value: String)] = []
    if rows != nil { headers.append(("content-type", format.contentType)) }
    headers.append(("content-range", range))
    if let location { headers.append(("location", location)) }
    if let applied = preferences.applied(to: request.method) { headers.append(("preference-applied", applied)) }
    let body = request.method == .head ? [] : try rows?.body(format) ?? []
    return RestAnswer(status: status, headers: headers, body: body, changedKeys: keys)
  }

  func requireSingle(_ count: Int) throws {
    guard !format.isObject || count == 1 else { throw RestFailure.notSingle(count) }
  }
}
