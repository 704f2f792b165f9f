import Crypto
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// Tags made of the version of the resource, which `If-Match` compares, and a digest of the body, which `If-None-Match`
/// compares, because one version has different bodies for different users and times.
extension EntityTag {
  static func of(_ body: Data, version: Int?) -> String { of(SHA256.hash(data: body), version: version) }

  static func of(_ digest: SHA256.Digest, version: Int?) -> String {
    let text = Base64URL.encode(digest.prefix(12))
    return version.map { "\"\($0)-\(text)\"" } ?? "\"\(text)\""
  }
}

/// The versions of a resource to which a change applies (`If-Match`, RFC 9110 §13.1.1).
enum IfMatch: Sendable {
  case any
  case versions(Set<Int>)

  init(_ request: Request) {
    guard let header = request.headers[.ifMatch], header.trimmingCharacters(in: .whitespaces) != "*" else {
      self = .any
      return
    }
    let entries = EntityTag.entries(of: header, .lenient)
    self = .versions(Set(entries.compactMap { $0.split(separator: "-", maxSplits: 1).first.flatMap { Int($0) } }))
  }

  /// - Throws: 412 for another version.
  func require(_ version: Int) throws(Failure) {
    if case .versions(let versions) = self, !versions.contains(version) { throw .changedMeanwhile }
  }
}

extension Reply {
  /// The response with its entity tag; 304 without a body when the client already has the same body.
  func response(to request: Request, version: Int? = nil) -> Response {
    let tag = EntityTag.of(body, version: version)
    guard status == 200, request.ifNoneMatchIncludes(tag, .lenient) else {
      var response = response
      response.headers[.eTag] = tag
      return response
    }
    return Response(status: .notModified, headers: [.eTag: tag])
  }

  /// The version of the task, sub-task or list in the body; nil when there is none.
  var version: Int? {
    // `try?`: other bodies have no version.
    guard let body = try? JSONReader.tree(of: Array(body)),
      case .number(let version)? = ["task", "subtask", "list"].lazy.compactMap({ body[$0]?["version"] }).first
    else { return nil }
    return Int(version)
  }
}
