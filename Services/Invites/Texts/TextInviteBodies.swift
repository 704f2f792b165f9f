import Foundation
import Messages
import Wire

/// A request for which of a phone's contacts use the app.
struct CheckUsersBody: Decodable {
  let phone_numbers: [String]

  static let numbersMax = 2000
}

/// Requests texts to phone numbers, and the addition of existing users to the group.
struct SendInvitesBody: Decodable {
  struct ExistingUser: Decodable {
    let user_id: String
    let phone_number: String?
  }

  let group_id: String
  let phone_numbers: [String]
  let existing_users: [ExistingUser]?

  static let numbersMax = 500

  /// - Throws: the validation failure that names the number at fault.
  func recipients() throws(Failure) -> [Recipient] {
    try E164.require(phone_numbers, field: "phone_numbers", countMax: Self.numbersMax)
    var (seen, recipients): (Set<String>, [Recipient]) = ([], [])
    for (index, input) in phone_numbers.enumerated() {
      let number = try PhoneNumber.required(input, field: "phone_numbers.\(index)")
      if seen.insert(number.text).inserted { recipients.append(Recipient(input: input, number: number)) }
    }
    return recipients
  }

  /// A phone number, and the text that the app wrote it as.
  struct Recipient: Sendable, Hashable {
    let input: String
    let number: PhoneNumber
  }
}
