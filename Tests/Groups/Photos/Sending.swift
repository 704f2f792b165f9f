import Clients
import Foundation
import Support
import Wire

/// How the tests send and look at photos.
extension SignedInUser {
  func send(_ photo: Data, to group: GroupID, named name: String = "photo.jpg") async throws -> Browser.Reply {
    let (body, type) = Form.body(photo, group: group.description, named: name)
    return try await browser.with(["Content-Type": type]).send(.POST, "/api/photos/upload", body: body)
  }

  /// What everybody in the group sees of today.
  func today(_ group: GroupID) async throws -> [[String: Any]] {
    let reply = try await browser.get("/api/photos/\(group)/today")
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return reply["photos"] as? [[String: Any]] ?? []
  }
}

/// Form data as apps send it.
enum Form {
  static func body(_ photo: Data, group: String, named name: String = "photo.jpg") -> (Data, type: String) {
    let boundary = "Boundary-7E1F9D"
    var body = Data()
    body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"group_id\"\r\n\r\n\(group)\r\n".utf8)
    body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n".utf8)
    body += Data("Content-Type: image/jpeg\r\n\r\n".utf8) + photo + Data("\r\n--\(boundary)--\r\n".utf8)
    return (body, "multipart/form-data; boundary=\(boundary)")
  }
}

extension TestStack {
  /// Makes somebody a member.
  func seat(_ user: SignedInUser, in group: GroupID, by owner: SignedInUser) async throws {
    let groups = GroupsClient(in: surroundings(of: "invites"))
    let joined = try await groups.join(group, user.id, by: .init(inviteID: .new(at: Date()), invitedBy: owner.id))
    guard joined.outcome == .joined else { throw Unexpected(reply: "\(joined)") }
  }

  /// The address without the host that the world would know.
  func path(_ url: Any?) -> String {
    let text = url as? String ?? ""
    return text.range(of: "/api/").map { String(text[$0.lowerBound...]) } ?? text
  }

  /// Every file in the folder of photos, folders left out.
  var photoFiles: [String] {
    let files = FileManager.default.enumerator(atPath: place.folder.appendingPathComponent("photos").path)
    return (files?.compactMap { $0 as? String } ?? []).filter { $0.contains(".") }
  }
}

/// A connection over which anything can be said.
final class RawConnection: Sendable {
  private let descriptor: Int32

  init(to browser: Browser) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(browser.base.split(separator: ":").last ?? "")?.bigEndian ?? 0
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw Unexpected(reply: "cannot connect") }
  }

  deinit { close(descriptor) }

  /// Whether all of it could be sent.
  func send(_ data: Data) -> Bool {
    var left = data[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      left = left.dropFirst(count)
    }
    return true
  }

  /// What has come by now, without waiting for more.
  func received() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
