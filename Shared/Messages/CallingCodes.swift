/// The country codes of ITU-T E.164, and what numbers within them look like.
enum CallingCodes {
  /// The country code with which the digits begin. nil for the codes that no country has: satellites, premium services
  /// and networks of the whole world, where a text costs a fortune or reaches nobody.
  static func code(of digits: Substring) -> String? {
    for length in 1...3 {
      let code = digits.prefix(length)
      if let number = Int(code), code.utf8.count == length, assigned.contains(number), code.first != "0" {
        return String(code)
      }
    }
    return nil
  }

  /// 15 digits are the most in all (E.164 §6.2); the shortest numbers that countries have are of four, beside their code.
  static func isSound(_ national: Substring, in code: String) -> Bool {
    switch code {
    // The North American plan: ten digits, and areas begin with 2 to 9.
    case "1": return national.utf8.count == 10 && !["0", "1"].contains(national.first)
    case "7": return national.utf8.count == 10
    default: return national.utf8.count >= 4 && code.utf8.count + national.utf8.count <= 15
    }
  }

  /// Whether a 0 is dialled before a number only from within the country, so that a number with it is the same number.
  /// In Italy, Ivory Coast, Benin and others a number may begin with 0, and there it stays.
  static func dialsZeroFirst(_ code: String) -> Bool { Int(code).map(zeroFirst.contains) ?? false }

  /// Areas of the North American plan outside of the United States and Canada.
  static let islandAreas: Set<Substring> = [
    "242", "246", "264", "268", "284", "340", "345", "441", "473", "649", "658", "664", "670", "671", "684", "721",
    "758", "767", "784", "787", "809", "829", "849", "868", "869", "876", "939",
  ]

  private static let assigned: Set<Int> = Set(
    [1, 7, 20, 27, 36, 39, 81, 82, 84, 86, 98, 211, 212, 213, 216, 218, 290, 291, 389, 420, 421, 423, 670, 850, 852]
      + [853, 855, 856, 880, 886]
  ).union([30...34, 40...41, 43...49, 51...58, 60...66, 90...95].joined())
    .union([220...258, 260...269, 297...299, 350...359, 370...378, 380...383, 385...387, 500...509].joined())
    .union([590...599, 672...683, 685...692, 960...968, 970...977, 992...996, 998...998].joined())

  private static let zeroFirst: Set<Int> = [
    20, 27, 31, 32, 33, 40, 41, 43, 44, 46, 49, 51, 60, 61, 62, 63, 64, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
    212, 213, 218, 233, 234, 249, 251, 254, 255, 256, 260, 263, 353, 355, 358, 359, 373, 374, 380, 381, 383, 385, 386,
    387, 389, 421, 880, 886, 961, 962, 963, 964, 966, 967, 971, 972, 977, 994, 995, 996,
  ]
}
