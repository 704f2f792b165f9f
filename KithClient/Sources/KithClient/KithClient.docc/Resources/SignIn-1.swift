func sendCode(to typed: String) async throws {
  guard let number = PhoneNumber(typed, inCountry: "1") else { throw KithFailure.invalid("This is not a number.") }
  _ = try await kith.auth.requestCode(phoneNumber: number.text)
}
