/// The country codes of ITU-T E.164 and the rules for numbers within them, as the server has them.
enum CallingCodes {
  /// The country code that the digits begin with. nil for codes that belong to no country: satellites, premium services
  /// and global networks, where an SMS is very expensive or cannot be delivered.
  static func code(of digits: Substring) -> String? {
    for length in 1...3 {
      let code = digits.prefix(length)
      if let number = Int(code), code.utf8.count == length, assigned.contains(number), code.first != "0" {
        return String(code)
      }
    }
    return nil
  }

  /// Whether a national number has a valid form: at most 15 digits with the country code (E.164 §6.2), at least four
  /// without.
  static func isValid(_ national: Substring, in code: String) -> Bool {
    switch code {
    // The North American Numbering Plan: ten digits; area codes begin with 2 to 9.
    case "1": return national.utf8.count == 10 && !["0", "1"].contains(national.first)
    case "7": return national.utf8.count == 10
    default: return national.utf8.count >= 4 && code.utf8.count + national.utf8.count <= 15
    }
  }

  /// Whether the country has the trunk prefix 0, which is dialled within the country only: a number with it is the same
  /// number. In Italy, Ivory Coast, Benin and other countries, a 0 is part of the number.
  static func hasTrunkZero(_ code: String) -> Bool { Int(code).map(trunkZeroCodes.contains) ?? false }

  private static let assigned: Set<Int> = Set(
    [1, 7, 20, 27, 36, 39, 81, 82, 84, 86, 98, 211, 212, 213, 216, 218, 290, 291, 389, 420, 421, 423, 670, 850, 852]
      + [853, 855, 856, 880, 886]
  ).union([30...34, 40...41, 43...49, 51...58, 60...66, 90...95].joined())
    .union([220...258, 260...269, 297...299, 350...359, 370...378, 380...383, 385...387, 500...509].joined())
    .union([590...599, 672...683, 685...692, 960...968, 970...977, 992...996, 998...998].joined())

  private static let trunkZeroCodes: Set<Int> = [
    20, 27, 31, 32, 33, 40, 41, 43, 44, 46, 49, 51, 60, 61, 62, 63, 64, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
    212, 213, 218, 233, 234, 249, 251, 254, 255, 256, 260, 263, 353, 355, 358, 359, 373, 374, 380, 381, 383, 385, 386,
    387, 389, 421, 880, 886, 961, 962, 963, 964, 966, 967, 971, 972, 977, 994, 995, 996,
  ]
}
