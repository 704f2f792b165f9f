/// The error conventions of a group of paths. Their clients expect different statuses and codes for the same failure;
/// nothing else about an error differs between them.
package enum APIDialect: Sendable, Hashable {
  /// `/api/…` and `/internal/…`: invalid fields are 422.
  case api
  /// Paths without a prefix (share links, collections): invalid fields are 400.
  case plain
  /// `/auth/v1`: GoTrue's codes, as Supabase's client libraries expect.
  case goTrue
  /// `/rest/v1`: PostgREST's codes.
  case postgREST
  /// `/rest/v1/rpc`: the same, except that what is not there is a function and no table.
  case postgRESTFunction
  /// `/storage/v1`: the errors of Supabase's storage, `{statusCode, error, message}`.
  case storage

  package init(path: some StringProtocol) {
    switch true {
    case path.hasPrefix("/auth/v1"): self = .goTrue
    case path.hasPrefix("/rest/v1/rpc/"): self = .postgRESTFunction
    case path.hasPrefix("/rest/v1"): self = .postgREST
    case path.hasPrefix("/storage/v1"): self = .storage
    case path.hasPrefix("/api/"), path.hasPrefix("/internal/"): self = .api
    default: self = .plain
    }
  }

  var isPostgREST: Bool { self == .postgREST || self == .postgRESTFunction }
}
