import Foundation
import KithClient
import Testing

/// The names of errors that the services have are those that the client knows.
@Suite struct FailureCodeTests {
  /// What only operators, services and the clients of others are told.
  private static let others: Set<String> = [
    "Duplicate", "InvalidJWT", "InvalidKey", "Unauthorized", "billing_event_not_found", "billing_event_settled",
    "hold_expired", "hold_not_found", "invalid_apple_notice", "invalid_notification", "invalid_signature",
    "malformed_form", "may_not_act", "service_keys_unset", "wrong_admin_key", "wrong_service_key",
  ]

  @Test func everyCodeOfTheServicesIsKnown() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var codes: Set<String> = []
    for folder in ["Services", "Shared", "gateway"] {
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      while let file = files?.nextObject() as? URL {
        guard file.pathExtension == "swift" else { continue }
        for match in try String(contentsOf: file, encoding: .utf8).matches(of: /Failure\(\s*\.\w+,\s*"(\w+)"/) {
          codes.insert(String(match.output.1))
        }
      }
    }
    // The premise: the sources were found.
    #expect(codes.count > 100)
    let unknown = codes.subtracting(Self.others).filter { KnownFailureCode(rawValue: $0) == nil }
    #expect(unknown.sorted() == [])
  }
}
