/// What to do about a variable that stops the start, by what is said of it.
enum ConfigurationMend {
  /// - Parameter reason: why the start fails, as one line that names the variable.
  static func mend(for reason: String) -> String {
    for known in all where known.phrases.contains(where: reason.contains) { return known.mend }
    guard let variable = reason.firstMatch(of: /[A-Z][A-Z0-9]*_[A-Z0-9_]+|BILLING|ENVIRONMENT|PORT|DEBUG/) else {
      return "set it in .env; .env.example describes every variable"
    }
    return "correct \(variable.output) in .env; .env.example says what it takes"
  }

  /// The first that has a phrase of the reason is what to do.
  private static let all: [(phrases: [String], mend: String)] = [
    (
      ["`make env` writes"],
      "remove an empty line of it from .env, and run `make env`, which adds what is missing"
    ),
    (
      ["is shorter than", "is a sample"],
      "set it to a random value, such as `openssl rand -hex 32` prints; docs/keys.md says how to replace one in use"
    ),
    (
      ["half configured", "but MAIL_FROM is not", "must be set for", "belong together", "but no password"],
      "set what is missing, or none of them, to do without"
    ),
    (
      ["is for development", "only development takes", "needs ENVIRONMENT=production", "production does not accept"],
      "remove it, or set ENVIRONMENT to what this installation is"
    ),
    (
      ["cannot be made", "cannot write", "read or written"],
      "let the user that runs kith write there, or name another folder"
    ),
    (
      ["cannot be read", "can be read", "private key in PEM", "no certificate", "cannot be used", "is not YAML"],
      "check that the file is there, that the user that runs kith may read it, and that it is the right one"
    ),
    (
      ["BILLING_PRODUCTS: ", "TIMEPOINT_MODELS: ", "TIMEPOINT_PROMPTS: "],
      "correct the file; docs/purchases.md and docs/timepoint-models.md describe them"
    ),
  ]
}
