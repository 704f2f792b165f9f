import Foundation
import Testing

@testable import Auth

/// The value of a member in a text that arrives in parts.
@Suite struct JSONMemberFinderTests {
  @Test(arguments: [1, 2, 3, 5, 7, 1000]) func theValueIsFoundWhereverThePartsEnd(_ length: Int) {
    let values = [
      #"{"a":[1,{"b":"]}"}],"other":2}"#: "[1,{\"b\":\"]}\"}]",
      #"{"other":{"a":3},"a":[]}"#: "[]",
      #"{"other":"\"a\":1,\\","a":["\\\"}"]}"#: #"["\\\"}"]"#,
      #"{"aa":1,"":2,"x":["a",":",{"a":1}],"a":null,"b":{}}"#: "null",
      #"{"a":"a"}"#: #""a""#,
    ]
    for (text, value) in values {
      let (found, finder) = search("a", in: text, length)
      #expect(found == value && finder.hasFound && finder.hasEnded, "\(text)")
    }
  }

  @Test(arguments: [1, 4, 1000]) func whatIsNotThereIsNotFound(_ length: Int) {
    for text in [#"{}"#, #"{"b":"a","c":{"a":1}}"#, #"{"ab":1,"\"a":2}"#, #"["a",1]"#] {
      let (found, finder) = search("a", in: text, length)
      #expect(found.isEmpty && !finder.hasFound && finder.hasEnded, "\(text)")
    }
  }

  @Test func anObjectThatIsCutOffHasNotEnded() {
    for text in ["", "{", #"{"a":["#, #"{"a":"}"#, #"{"a":"\"}"#, #"{"b":{}"#] {
      #expect(!search("a", in: text, 1000).finder.hasEnded, "\(text)")
    }
  }

  private func search(_ name: String, in text: String, _ length: Int) -> (text: String, finder: JSONMemberFinder) {
    var (finder, found) = (JSONMemberFinder(name), [UInt8]())
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: length) {
      let part = Array(bytes[start..<min(start + length, bytes.count)])
      let range = part.withUnsafeBytes { finder.range(in: $0) }
      found += part[range]
    }
    return (String(decoding: found, as: UTF8.self), finder)
  }
}
