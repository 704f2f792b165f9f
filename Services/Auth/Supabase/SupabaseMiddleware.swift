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
    do {
      try requireKey(request)
      return versioned(try await next(request, context), request)
    } catch let failure as Failure {
      var response = failure.response(as: .goTrue, requestID: context.trace.requestID)
      response.headers[.errorCode] = Dialect.goTrue.code(of: failure)
      return versioned(response, request)
    }
  }

  /// - Throws: 401 without one of the keys that are configured.
  private func requireKey(_ request: Request) throws(Failure) {
    // A form comes from the page behind a mail's link, and a browser knows no key. Nothing else takes one.
    guard !apiKeys.isEmpty, !request.isForm else { return }
    let presented = request.headers[.apiKey] ?? ""
    let isKnown = apiKeys.reduce(false) { ServiceKeys.same($1, presented) || $0 }
    guard isKnown else { throw .invalidAPIKey }
  }

  private func versioned(_ response: Response, _ request: Request) -> Response {
    guard let version = request.headers[.apiVersion], version == "2024-01-01" else { return response }
    var response = response
    response.headers[.apiVersion] = version
    return response
  }
}

extension HTTPField.Name {
  // `!`: the names are constants that are valid tokens.
  fileprivate static let apiKey = Self("apikey")!
  fileprivate static let apiVersion = Self("X-Supabase-Api-Version")!
  fileprivate static let errorCode = Self("x-sb-error-code")!
}

extension Failure {
  static let invalidAPIKey = Failure(.unauthorized, "invalid_api_key", "Invalid API key")
}
