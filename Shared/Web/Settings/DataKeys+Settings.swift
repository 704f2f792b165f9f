import Foundation
import Tokens

extension Settings {
  /// `DATA_KEYS`: `name:key` pairs, the newest first.
  ///
  /// - Throws: ``StartFailure`` when there are none, when one is not a pair, or when one is too weak for production.
  package func dataKeys() throws -> DataKeys {
    let secrets = try list("DATA_KEYS").map { entry in
      let parts = entry.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw StartFailure("DATA_KEYS must be name:key,name:key") }
      try requireStrength(of: parts[1], in: "DATA_KEYS (\(parts[0]))")
      return parts[1]
    }
    guard let keys = DataKeys(secrets) else { throw StartFailure("DATA_KEYS is not set; `make env` writes a .env") }
    return keys
  }
}
