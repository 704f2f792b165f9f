import Crypto
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// What `ETag` says of a body (RFC 9110 §8.8.3): the version of the thing, by which `If-Match` compares, and a digest of
/// the bytes, by which `If-None-Match` does, as the same version looks different to different people and at other times.
enum EntityTag {
  static func of(_ body: Data, version: Int?) -> String {
    let digest = Base64URL.encode(SHA256.hash(data: body).prefix(12))
    return version.map { "\"\($0)-\(digest)\"" } ?? "\"\(digest)\""
  }

  /// The entries of a list of tags, without their quotes; weak ones keep their mark.
  static func entries(_ header: String) -> [Substring] {
    header.split(separator: ",").map { entry in
      let entry = entry.drop { $0 == " " }.prefix { $0 != " " }
      return entry.hasPrefix("\"") && entry.hasSuffix("\"") && entry.count >= 2 ? entry.dropFirst().dropLast() : entry
    }
  }
}

/// Which versions a change is meant for (`If-Match`, RFC 9110 §13.1.1).
enum Expectation: Sendable {
  case any
  case versions(Set<Int>)

  init(_ request: Request) {
    guard let header = request.headers[.ifMatch], header.trimmingCharacters(in: .whitespaces) != "*" else {
      self = .any
      return
    }
    self = .versions(
      Set(EntityTag.entries(header).compactMap { $0.split(separator: "-", maxSplits: 1).first.flatMap { Int($0) } }))
  }

  /// - Throws: 412 when it is another version by now.
  func require(_ version: Int) throws(Failure) {
    if case .versions(let versions) = self, !versions.contains(version) { throw .changedMeanwhile }
  }
}

extension Reply {
  /// The answer with its tag; 304 without a body when the client has these very bytes.
  func response(to request: Request, version: Int? = nil) -> Response {
    let tag = EntityTag.of(body, version: version)
    guard status == 200, request.knows(tag) else {
      var response = response
      response.headers[.eTag] = tag
      return response
    }
    return Response(status: .notModified, headers: [.eTag: tag])
  }

  /// The version of the task, sub-task or list in a body of ours.
  var version: Int? {
    // `try?`: a body about something else has none.
    guard let body = try? JSON.decode(VersionedBody.self, from: body) else { return nil }
    return (body.task ?? body.subtask ?? body.list)?.version
  }
}

private struct VersionedBody: Decodable {
  struct Thing: Decodable {
    let version: Int
  }

  let task: Thing?
  let subtask: Thing?
  let list: Thing?
}
