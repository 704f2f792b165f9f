/// Ids in the format of the apps with share links: the UUID after `col_`, `inv_` or `user_`.
extension ID {
  /// - Returns: `prefix` and the UUID in lower case.
  package func prefixed(_ prefix: IDPrefix) -> String { prefix.rawValue + description }

  /// Parses the id with or without its prefix; nil for any other text.
  package init?(_ text: String, prefix: IDPrefix) {
    self.init(text.hasPrefix(prefix.rawValue) ? String(text.dropFirst(prefix.rawValue.count)) : text)
  }
}

/// The prefixes of ids.
package enum IDPrefix: String, Sendable {
  case user = "user_"
  case collection = "col_"
  case invite = "inv_"
}
