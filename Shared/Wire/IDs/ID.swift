import Foundation

/// A UUID with the type of its subject: an `ID<User>` cannot be passed where an `ID<Session>` is expected.
///
/// New ids are UUIDv7 (RFC 9562 §5.7), so that rows made at about the same time are close in an index. Written in lower
/// case.
package struct ID<Subject>: Hashable, Sendable, LosslessStringConvertible {
  package let uuid: UUID

  package init(_ uuid: UUID) { self.uuid = uuid }

  /// Parses the 36-character form in either case; nil for any other text.
  package init?(_ text: String) {
    guard let uuid = UUID(canonical: text) else { return nil }
    self.uuid = uuid
  }

  /// A new id whose first 48 bits are the milliseconds since 1970 of `now`.
  package static func new(at now: Date) -> ID {
    let milliseconds = UInt64(clamping: Int64((now.timeIntervalSince1970 * 1000).rounded()))
    let high = (milliseconds << 16) | 0x7000 | UInt64.random(in: 0...0xFFF)
    let low = (UInt64.random(in: .min ... .max) & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
    func byte(_ word: UInt64, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64(index))) }
    return ID(
      UUID(
        uuid: (
          byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
          byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
          byte(low, 6), byte(low, 7)
        )))
  }

  package var description: String { uuid.lowercaseText }

  /// As two words, which takes less time than as sixteen bytes.
  package func hash(into hasher: inout Hasher) {
    withUnsafeBytes(of: uuid.uuid) { bytes in
      hasher.combine(bytes.loadUnaligned(as: UInt64.self))
      hasher.combine(bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }
}

extension ID: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = ID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a UUID")
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// The subjects of ids. These types have no values.
package enum User {}
package enum Session {}
package enum LedgerOperation {}
package enum SocialGroup {}
package enum SharedCollection {}
package enum Invitation {}
package enum InviteClaim {}
package enum Happening {}
package enum HeldCredits {}

package typealias UserID = ID<User>
package typealias SessionID = ID<Session>
package typealias OperationID = ID<LedgerOperation>
package typealias GroupID = ID<SocialGroup>
package typealias CollectionID = ID<SharedCollection>
package typealias InviteID = ID<Invitation>
package typealias ClaimID = ID<InviteClaim>
package typealias EventID = ID<Happening>
package typealias CreditHoldID = ID<HeldCredits>
