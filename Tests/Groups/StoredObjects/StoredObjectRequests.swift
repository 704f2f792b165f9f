import Foundation
import NIOHTTP1
import Support
import Wire

/// Requests to `/storage/v1` as Supabase's clients send them.
extension SignedInUser {
  /// As the client for Swift: the file is in a part without a name.
  func store(
    _ photo: Data, as name: String, part: String = "", headers: [String: String] = [:]
  ) async throws -> Browser.Reply {
    let boundary = "Boundary-7E1F9D"
    var body = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"cacheControl\"\r\n\r\n60\r\n".utf8)
    body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part)\"; filename=\"1.jpg\"\r\n".utf8)
    body += Data("Content-Type: image/jpeg\r\n\r\n".utf8) + photo + Data("\r\n--\(boundary)--\r\n".utf8)
    return try await browser.with(headers.merging(["Content-Type": "multipart/form-data; boundary=\(boundary)"]) { $1 })
      .send(.POST, "/storage/v1/object/\(name)", body: body)
  }

  func list(_ folder: String, in bucket: String = "photos") async throws -> [[String: Any]] {
    try await browser.post("/storage/v1/object/list/\(bucket)", ["prefix": folder]).list
  }

  /// A link to a file, as a path of the gateway.
  func link(to name: String, seconds: any Sendable = 60) async throws -> Browser.Reply {
    try await browser.post("/storage/v1/object/sign/\(name)", ["expiresIn": seconds])
  }

  func remove(_ names: [String], in bucket: String = "photos") async throws -> Browser.Reply {
    try await browser.send(.DELETE, "/storage/v1/object/\(bucket)", json: ["prefixes": names])
  }
}

extension Browser.Reply {
  /// The members that Supabase's clients read of an error.
  var storageError: String { "\(string("statusCode")) \(string("error"))" }
}
