/// PUT: the one row of a key, which is inserted or changed.
extension RestOperation {
  /// - Throws: ``RestFailure`` PGRST105 unless the key is the only condition, PGRST114 with a page, PGRST115 when the
  ///   body is not one row of that key.
  func requireOneKey() throws {
    guard resource.limit == nil, resource.offset == 0 else { throw RestFailure.pageOfPut }
    guard resource.conditions.count == 1, case .filter(let filter) = resource.conditions[0], !filter.isNegated,
      filter.field == Field(column: table.key), case .compare(.eq, let text) = filter.test
    else { throw RestFailure.incompleteKey }
    guard let type = table.column(table.key)?.type, let rows = body?.rows, rows.count == 1,
      let sent = rows[0][table.key], try type.value(of: sent) == type.value(ofText: text)
    else { throw RestFailure.differentKey }
  }
}
