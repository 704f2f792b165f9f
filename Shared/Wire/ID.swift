import Foundation

/// A UUID that knows what it names: an `ID<User>` cannot be passed where an `ID<Session>` is meant.
///
/// New ones are UUIDv7 (RFC 9562 §5.7), so rows made together lie together in an index. Written in lower case.
package struct ID<Subject>: Hashable, Sendable, LosslessStringConvertible {
  package let uuid: UUID

  package init(_ uuid: UUID) { self.uuid = uuid }

  /// Accepts the 36-character form in either case; everything else is nil.
  package init?(_ text: String) {
    guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
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

  package var description: String { uuid.uuidString.lowercased() }
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

/// What ids can name. These types have no values; they only tell ids apart.
package enum User {}
package enum Session {}
package enum LedgerOperation {}
package enum SocialGroup {}
package enum SharedCollection {}
package enum Invitation {}
package enum InviteClaim {}

package typealias UserID = ID<User>
package typealias SessionID = ID<Session>
package typealias OperationID = ID<LedgerOperation>
package typealias GroupID = ID<SocialGroup>
package typealias CollectionID = ID<SharedCollection>
package typealias InviteID = ID<Invitation>
package typealias ClaimID = ID<InviteClaim>
