import Foundation
import Testing
import Wire

/// Parsing and formatting of ids, compared with Foundation's.
@Suite struct IDTests {
  @Test func idsAreReadAndWrittenAsFoundationDoes() throws {
    for _ in 0..<2000 {
      let uuid = UUID()
      let id = UserID(uuid)
      #expect(id.description == uuid.uuidString.lowercased())
      #expect(UserID(uuid.uuidString) == id)
      #expect(UserID(id.description) == id)
    }
    #expect(UserID("FFFFFFFF-ffff-FFFF-ffff-FfFfFfFfFfFf")?.description == "ffffffff-ffff-ffff-ffff-ffffffffffff")
  }

  @Test(arguments: [
    "", "0", "01a1ffad-2a2a-7a72-b724-121048fcfc3", "01a1ffad-2a2a-7a72-b724-121048fcfc311",
    "01a1ffad2a2a7a72b724121048fcfc31", "01a1ffad-2a2a-7a72-b724-121048fcfc3g", "01a1ffad-2a2a-7a72-b724_121048fcfc31",
    "{01a1ffad-2a2a-7a72-b724-121048fcfc}", "01a1ffad-2a2a7-a72-b724-121048fcfc31",
    " 1a1ffad-2a2a-7a72-b724-121048fcfc31",
    "01a1ffad-2a2a-7a72-b724-121048fcfc3\n", "01a1ffad-2a2a-7a72-b724-121048fcfcé",
    "01a1ffad-2a2a-7a72-b724-121048fcfc\0",
    "+1a1ffad-2a2a-7a72-b724-121048fcfc31", "0x01ffad-2a2a-7a72-b724-121048fcfc31",
    "０1a1ffad-2a2a-7a72-b724-121048fcfc",
  ])
  func everythingElseIsNone(text: String) { #expect(UserID(text) == nil) }

  /// Characters of two bytes at every position, whose bytes are not those of a digit of another encoding.
  @Test(arguments: ["\u{80}", "é", "\u{7FF}"]) func noCharacterMayBeOutsideASCII(character: String) {
    let good = Array("01a1ffad-2a2a-7a72-b724-121048fcfc31".utf8)
    for position in good.indices.dropLast() {
      let bytes = good[..<position] + Array(character.utf8) + good[(position + 2)...]
      #expect(UserID(String(decoding: bytes, as: UTF8.self)) == nil)
    }
  }

  /// Every ASCII character at every position.
  @Test func noCharacterMayBeAnother() {
    let good = Array("01a1ffad-2a2a-7a72-b724-121048fcfc31".utf8)
    for position in good.indices {
      for byte in UInt8(0)..<128 {
        var bytes = good
        bytes[position] = byte
        let text = String(decoding: bytes, as: UTF8.self)
        let isHex = byte < 0x80 && Character(Unicode.Scalar(byte)).isHexDigit
        #expect((UserID(text) != nil) == (good[position] == 0x2D ? byte == 0x2D : isHex), "\(text)")
      }
    }
  }
}

/// Encoding of members without containers of their own.
@Suite struct BodyEncodingTests {
  private enum Colour: String, Codable { case red, green }

  private struct Body: Encodable {
    @NullCodable var name: String?
    @NullCodable var none: String?
    @NullCodable var at: Date?
    @NullCodable var count: Int?
    let colour: Colour
    let another: Colour?
    let missing: Colour?
  }

  @Test func membersLookTheSame() throws {
    let body = Body(
      name: "Zoë / \"x\"", none: nil, at: Date(timeIntervalSince1970: 1_763_690_000.123), count: 3, colour: .red,
      another: .green, missing: nil)
    let text = String(decoding: try JSON.encodeExact(body), as: UTF8.self)
    #expect(
      text
        == #"{"another":"green","at":"2025-11-21T01:53:20.123Z","colour":"red","count":3,"name":"Zoë / \"x\"","none":null}"#
    )
  }
}
