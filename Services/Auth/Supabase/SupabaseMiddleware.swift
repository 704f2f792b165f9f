import HTTPTypes
import Hummingbird
import Web
import Wire

/// What Supabase's client libraries send and expect around every call: a project's key, and a version of the API.
struct SupabaseMiddleware: RouterMiddleware {
  /// `API_KEYS`: without any, whatever comes as `apikey` is ignored.
  let apiKeys: [String]

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    try requireKey(request)
    var response = try await next(request, context)
    let version = request.headers[.goTrueVersion].flatMap { GoTrueVersion($0) }
    if let version { response.headers[.goTrueVersion] = version.text }
    return response
  }

  /// - Throws: 401 without one of the keys that are configured.
  private func requireKey(_ request: Request) throws(Failure) {
    // A form comes from the page behind a mail's link, and a browser knows no key. Nothing else takes one.
    guard !apiKeys.isEmpty, !request.isForm else { return }
    let presented = request.headers[.apiKey] ?? ""
    let isKnown = apiKeys.reduce(false) { ServiceKeys.same($1, presented) || $0 }
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
