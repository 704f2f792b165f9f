import Messages

/// What the server makes of a typed number. In a file of its own, as the client has a type of the same name.
func serverPhoneNumber(_ typed: String) -> String? { PhoneNumber(typed)?.text }
