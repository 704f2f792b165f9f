import Wire

/// The one 404 that says that a thing is not there. Any other comes from a process that does not know the path, because
/// it is an older one or not the right one: about the thing it says nothing.
struct NotFound: Sendable {
  let code: String

  /// - Throws: ``Wire/Failure/unavailable`` for any other 404.
  func believed<T>(_ call: () async throws -> T) async throws -> T {
    do { return try await call() } catch let failure as Failure where failure.kind == .notFound && failure.code != code
    {
      throw Failure.unavailable
    }
  }

  /// nil when the thing is not there.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` for any other 404.
  func orNil<T>(_ call: () async throws -> T) async throws -> T? {
    do { return try await believed(call) } catch let failure as Failure where failure.kind == .notFound { return nil }
  }
}
