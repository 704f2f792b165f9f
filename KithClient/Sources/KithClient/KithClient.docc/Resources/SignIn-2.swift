func sendCode(to typed: String) async throws {
  guard let number = PhoneNumber(typed, inCountry: "1") else { throw KithFailure.invalid("This is not a number.") }
  _ = try await kith.auth.requestCode(phoneNumber: number.text)
}

func signIn(as number: PhoneNumber, code: String) async throws {
  let user = try await kith.auth.signIn(phoneNumber: number.text, code: code)
  if user.firstName.isEmpty { showNameEntry() }
}
