import Database

/// A request that was parsed and compared with its table's declaration. It runs for a caller only.
package struct RestOperation: Sendable {
  package let request: RestRequest
  package let table: Table
  /// The members of the body, of POST, PUT and PATCH.
  package var body: RequestBody?
  let query: Query
  let resource: Resource
  package let preferences: Preferences
  let format: AnswerFormat
  /// The ids of the only rows that a PATCH or DELETE touches, where its service has chosen them.
  var restriction: [String]?

  package init(_ request: RestRequest, in schema: RestSchema) throws {
    if let profile = request.profile, profile != "public" { throw RestFailure.unknownSchema(profile) }
    self.request = request
    table = try schema.table(request.table)
    preferences = try Preferences(request.prefer).withDefault(for: request.method)
    format = try AnswerFormat(accept: request.accept)
    query = try Query(parsing: request.query)
    var resource = try Resource(query, of: table, in: schema)
    if request.method == .get, let range = try RowRange(request.range, unit: request.rangeUnit) {
      resource.intersect(range)
    }
    self.resource = resource
    body = request.method.hasBody ? try RequestBody(request, query, of: table) : nil
    try requireFilter()
    guard request.method == .put else { return }
    guard table.isReplaceable else { throw RestFailure.unsupportedMethod(request.method.rawValue) }
    try requireOneKey()
  }

  package var isRead: Bool { request.method == .get || request.method == .head }

  /// Whether the answer to a write has all columns of the rows, as a JSON array.
  package var answersWithWholeRows: Bool {
    preferences.returns == .representation && format == .array(isStripped: false) && query.selection == [.column(.all)]
  }

  /// A PATCH or DELETE of a whole table is an accident.
  private func requireFilter() throws {
    guard request.method == .patch || request.method == .delete, resource.conditions.isEmpty else { return }
    throw RestFailure.unfiltered(request.method == .patch ? "UPDATE" : "DELETE")
  }

  /// Answers a read.
  ///
  /// - Throws: as ``answer(for:on:_:whenInserted:)`` does.
  package func read(for caller: Caller, in database: any Database) async throws -> RestAnswer {
    if let answer = try await sharedAnswer(for: caller, in: database) { return answer }
    let engine = database.engine
    return try await database.readOnce { try answer(for: caller, on: $0, engine) }
  }

  /// Runs within the caller's transaction. A read makes one call on the connection, with one statement or two.
  ///
  /// - Parameter whenInserted: what belongs to new rows and is to be seen in their representation.
  /// - Throws: ``RestFailure``, after which the transaction must not be committed, and failures of the database that
  ///   are not the client's.
  package func answer(
    for caller: Caller, on db: any Connection, _ engine: Engine, whenInserted: (() throws -> Void)? = nil
  ) throws -> RestAnswer {
    do {
      let writer = StatementWriter(engine: engine, caller: caller)
      switch request.method {
      case .get, .head: return try read(writer, on: db)
      case .post, .put: return try insert(writer, on: db, whenInserted)
      case .patch: return try update(writer, on: db)
      case .delete: return try delete(writer, on: db)
      }
    } catch let failure as DatabaseFailure {
      throw RestFailure(failure, table: table.name) ?? failure as any Error
    }
  }
}

extension RestSchema {
  /// Answers a request in a transaction of its own.
  package func answer(
    _ request: RestRequest, for caller: Caller, in database: any Database
  ) async throws -> RestAnswer {
    let operation = try RestOperation(request, in: self)
    let engine = database.engine
    return if operation.isRead {
      try await operation.read(for: caller, in: database)
    } else {
      try await database.write { try operation.answer(for: caller, on: $0, engine) }
    }
  }
}

extension Preferences {
  /// The contract's own samples send no preference, and read the row.
  fileprivate func withDefault(for method: RestRequest.Method) -> Preferences {
    guard isEmpty, method.hasBody else { return self }
    var preferences = self
    preferences.returns = .representation
    return preferences
  }
}
