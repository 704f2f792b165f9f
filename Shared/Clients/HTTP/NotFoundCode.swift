import Wire

/// The error code of the one 404 that means that a resource does not exist. Any other 404 comes from a process that
/// does not have the path, such as an older version, and says nothing about the resource.
struct NotFoundCode: Sendable {
  let code: String

  /// Makes a call, and turns any other 404 into a 503.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` for any other 404.
  func checking<T>(_ call: () async throws -> T) async throws -> T {
    do { return try await call() } catch let failure as Failure where failure.kind == .notFound && failure.code != code
    {
      throw Failure.unavailable
    }
  }

  /// The same with nil for a resource that does not exist.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` for any other 404.
  func orNil<T>(_ call: () async throws -> T) async throws -> T? {
    do { return try await checking(call) } catch let failure as Failure where failure.kind == .notFound { return nil }
  }
}
