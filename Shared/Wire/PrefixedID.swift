/// An id as the apps with share links write it: `col_…`, `inv_…`, `user_…` before the UUID.
extension ID {
  /// - Returns: `prefix` and the UUID in lower case.
  package func prefixed(_ prefix: IDPrefix) -> String { prefix.rawValue + description }

  /// Accepts the id with its prefix and without; everything else is nil.
  package init?(_ text: String, prefix: IDPrefix) {
    self.init(text.hasPrefix(prefix.rawValue) ? String(text.dropFirst(prefix.rawValue.count)) : text)
  }
}

/// What stands before an id.
package enum IDPrefix: String, Sendable {
  case user = "user_"
  case collection = "col_"
  case invite = "inv_"
}
