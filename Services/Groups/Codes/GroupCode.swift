import Foundation
import Tokens

/// The code by which anybody who knows it joins a group.
enum GroupCode {
  private static let length = 6
  /// Of groups that were made under `/api/groups`.
  private static let longLength = 8

  /// A new random code of letters and digits that are not easily confused.
  static func new(isLimited: Bool) -> String {
    Random.text(count: isLimited ? longLength : length, of: Random.unambiguousCharacters)
  }

  /// A code as a user typed it, in upper or lower case. A text that cannot be a code stays one that no group has.
  static func normalized(_ text: String) -> String {
    String(text.prefix(64)).trimmingCharacters(in: .whitespacesAndNewlines).uppercased().replacing("\0", with: "")
  }
}
