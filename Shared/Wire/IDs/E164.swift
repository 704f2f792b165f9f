/// Phone numbers in international format (E.164). Checks their form only, as they are compared as the apps send them;
/// `PhoneNumber` of the module Messages parses numbers as people type them, and validates country codes.
package enum E164 {
  /// - Throws: the validation failure that names `field`, when there are more than `countMax` numbers, or one that is
  ///   not a plus sign and 2 to 15 digits.
  package static func require(_ numbers: [String], field: String, countMax: Int) throws(Failure) {
    guard numbers.count <= countMax else { throw .invalid(.init(field, "must have at most \(countMax) numbers")) }
    for (index, number) in numbers.enumerated() where number.wholeMatch(of: /\+[1-9][0-9]{1,14}/) == nil {
      throw .invalid(.init("\(field).\(index)", "must be a phone number like +4712345678"))
    }
  }
}
