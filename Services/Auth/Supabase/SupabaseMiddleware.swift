import HTTPTypes
import Hummingbird
import Web
import Wire

/// Checks the API key that Supabase's client libraries send with every request, and echoes the API version.
struct SupabaseMiddleware: RouterMiddleware {
  /// `API_KEYS`: when there are none, the header `apikey` is ignored.
  let apiKeys: [String]

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    try requireAPIKey(request)
    var response = try await next(request, context)
    let version = request.headers[.goTrueVersion].flatMap { GoTrueVersion($0) }
    if let version { response.headers[.goTrueVersion] = version.text }
    return response
  }

  /// - Throws: 401 without one of the configured keys.
  private func requireAPIKey(_ request: Request) throws(Failure) {
    // Forms are sent by the page of a mailed link in a browser, which has no key. No other endpoint accepts a form.
    guard !apiKeys.isEmpty, !request.isForm else { return }
    let presented = request.headers[.apiKey] ?? ""
    let isKnown = apiKeys.reduce(false) { ServiceKeys.areEqual($1, presented) || $0 }
    guard isKnown else { throw .invalidAPIKey }
  }
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  fileprivate static let apiKey = Self("apikey")!
}

extension Failure {
  static let invalidAPIKey = Failure(.unauthorized, "invalid_api_key", "Invalid API key")
}
