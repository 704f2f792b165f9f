import Database

extension RestOperation {
  func read(_ writer: StatementWriter, on db: any Connection) throws -> RestAnswer {
    let readResource = readResource
    let page = try writer.select(readResource).forAnswer
    let isCounted = preferences.count != nil && !resource.isCount
    let statements = isCounted ? [page, try writer.count(resource).composedForRequest] : [page]
    let results = try db.rows(of: statements)
    let rows = results.first ?? []
    try readResource.requireBounded(rows)
    let total = isCounted ? try results.last?.first?.get("total", as: Int.self) : nil
    if let total, resource.offset > total {
      throw RestFailure.badRange(
        "An offset of \(resource.offset) was requested, but there are only \(total) rows.")
    }
    return try answer(to: rows, total: total)
  }

  /// - Parameters:
  ///   - rows: of the page.
  ///   - total: the number of rows on all pages, where it was asked for.
  func answer(to rows: [Row], total: Int?) throws -> RestAnswer {
    try requireSingle(rows.count)
    return try answer(
      total.map { rows.count < $0 } ?? false ? 206 : 200,
      rows: RowPage(resource: resource, rows: rows),
      range: Self.contentRange(first: resource.offset, count: rows.count, total: total))
  }

  /// HEAD is answered without a body: nothing is read of its rows but their number.
  private var readResource: Resource {
    guard request.method == .head, !resource.isCount else { return resource }
    var counted = resource
    counted.outputs = []
    counted.isWhole = false
    return counted
  }

  /// `0-9/57`; without a total `0-9/*`, without rows `*/57`.
  static func contentRange(first: Int, count: Int, total: Int?) -> String {
    let range = count == 0 ? "*" : String(first) + "-" + String(first + count - 1)
    return range + "/" + (total.map(String.init) ?? "*")
  }
}

extension SQL {
  /// The statement of the rows of an answer.
  var forAnswer: SQL { composedForRequest.bounded(toBytes: QueryBounds.answerBytesMax) }
}
