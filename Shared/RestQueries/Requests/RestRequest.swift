/// A request to `/rest/v1/{table}`, as far as it matters for its answer.
package struct RestRequest: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case patch = "PATCH"
    case put = "PUT"
    case delete = "DELETE"

    var hasBody: Bool { self == .post || self == .patch || self == .put }
  }

  package var method: Method
  package var table: String
  /// The part of the URL behind the question mark, as it was sent.
  package var query: String
  package var accept: String?
  package var contentType: String?
  /// The values of all `Prefer` headers.
  package var prefer: [String]
  package var range: String?
  package var rangeUnit: String?
  package var body: [UInt8]
  /// The header `Accept-Profile` of GET and HEAD, `Content-Profile` of other methods: the schema `public` or none.
  package var profile: String?

  /// - Parameter query: without the question mark.
  package init(
    _ method: Method, _ table: String, query: String = "", accept: String? = nil, contentType: String? = nil,
    prefer: [String] = [], range: String? = nil, rangeUnit: String? = nil, body: [UInt8] = [],
    profile: String? = nil
  ) {
    self.method = method
    self.table = table
    self.query = query
    self.accept = accept
    self.contentType = contentType
    self.prefer = prefer
    self.range = range
    self.rangeUnit = rangeUnit
    self.body = body
    self.profile = profile
  }
}
