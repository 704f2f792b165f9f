import Clients
import Foundation
import Wire

/// Sends and lists photos as a user.
extension SignedInUser {
  package func send(_ photo: Data, to group: GroupID, named name: String = "photo.jpg") async throws -> Browser.Reply {
    let (body, type) = MultipartForm.body(photo, group: group.description, named: name)
    return try await browser.with(["Content-Type": type]).send(.POST, "/api/photos/upload", body: body)
  }

  /// Stores a photo as a file of `/storage/v1` in place of an earlier one, and returns its name with the bucket.
  @discardableResult
  package func store(
    _ name: String, in bucket: String, _ photo: Data = SamplePhotos.jpeg
  ) async throws -> String {
    let path = "\(bucket)/\(id)/\(name)"
    let reply = try await browser.with(["Content-Type": "image/jpeg"])
      .send(.PUT, "/storage/v1/object/\(path)", body: photo)
    guard reply.status == 200 else { throw Unexpected(reply: "\(reply.status) \(reply.text)") }
    return path
  }

  /// Whether the user may read a file of `/storage/v1`.
  package func mayRead(_ path: String) async throws -> Bool {
    let reply = try await browser.get("/storage/v1/object/\(path)")
    guard [200, 404].contains(reply.status) else { throw Unexpected(reply: "\(reply.status) \(reply.text)") }
    return reply.status == 200
  }

  /// The photos of today that the user may see.
  package func today(_ group: GroupID) async throws -> [[String: Any]] {
    let reply = try await browser.get("/api/photos/\(group)/today")
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return reply["photos"] as? [[String: Any]] ?? []
  }
}

/// Multipart form data as apps send it.
package enum MultipartForm {
  package static func body(_ photo: Data, group: String, named name: String = "photo.jpg") -> (Data, type: String) {
    let boundary = "Boundary-7E1F9D"
    var body = Data()
    body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"group_id\"\r\n\r\n\(group)\r\n".utf8)
    body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n".utf8)
    body += Data("Content-Type: image/jpeg\r\n\r\n".utf8) + photo + Data("\r\n--\(boundary)--\r\n".utf8)
    return (body, "multipart/form-data; boundary=\(boundary)")
  }
}

extension TestStack {
  /// Makes a user a member.
  package func addMember(_ user: SignedInUser, in group: GroupID, by owner: SignedInUser) async throws {
    let groups = GroupsClient(in: dependencies(of: "invites"))
    let joined = try await groups.join(group, user.id, by: .init(inviteID: .new(at: Date()), invitedBy: owner.id))
    guard joined.outcome == .joined else { throw Unexpected(reply: "\(joined)") }
  }

  /// A URL without its public host, for requests to the gateway of the test.
  package func path(_ url: Any?) -> String {
    let text = url as? String ?? ""
    return text.range(of: "/api/").map { String(text[$0.lowerBound...]) } ?? text
  }

  /// Every file in the folder of photos, without folders.
  package var photoFiles: [String] {
    let files = FileManager.default.enumerator(atPath: testDatabase.folder.appendingPathComponent("photos").path)
    return (files?.compactMap { $0 as? String } ?? []).filter { $0.contains(".") }
  }
}
