import Database
import Foundation
import Support

extension Calls {
  /// Accounts are deleted, and with them what every service keeps about their users.
  func erasureCalls() async throws {
    for number in [10, 11, 2, 6] {
      let user = try await signIn(number)
      try await user.browser.ok(.DELETE, "/api/v1/auth/account")
      let finished = "erasure where account_id = '\(user.id)' and finished_at is not null"
      try await eventually("the erasure of u\(number)") {
        try await stack.count(SQL(stringLiteral: finished), in: "auth") == 1
      }
    }
  }
}
