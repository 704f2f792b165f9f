import Foundation
import Testing
import Wire

/// Text is copied whole where a JSON string and a line of the log can have it as it is, and nowhere else.
@Suite struct PlainTextTests {
  /// Every ASCII character, at every place in texts around the eight bytes that are looked at at once.
  @Test func aCharacterIsFoundWhereverItIs() throws {
    for byte in 0..<128 as Range<UInt8> {
      let isPlain = byte >= 0x20 && !#""\"#.utf8.contains(byte) && byte != 0x7F
      for (length, around) in (0...18).flatMap({ length in [(length, "a"), (length, "é")] }) {
        for position in 0...length {
          let text =
            String(repeating: around, count: position) + String(Unicode.Scalar(byte))
            + String(repeating: around, count: length - position)
          var output = Array("x".utf8)
          let isCopied = output.append(ifPlain: text)
          guard isCopied == isPlain, output == Array((isPlain ? "x" + text : "x").utf8) else {
            return #expect(Bool(false), "\(byte) at \(position) of \(length) \(around)")
          }
        }
      }
    }
  }

  @Test func textThatIsNotPlainIsWrittenAsJSON() throws {
    let texts = [
      "", "a\"b\\c/d", "\u{0}\u{1}\u{1F}\n\r\t\u{7F}", "é✓👋\u{2028}", String(repeating: "plain ", count: 50),
    ]
    for text in texts + texts.map({ "12345678" + $0 + "12345678" }) {
      let json = try JSON.encode([text])
      #expect(try JSONSerialization.jsonObject(with: json) as? [String] == [text])
      #expect(JSONTree.array([.string(text)]).text == String(decoding: json, as: UTF8.self))
    }
  }
}
