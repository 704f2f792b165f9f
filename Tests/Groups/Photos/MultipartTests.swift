import Foundation
import NIOCore
import Support
import Testing
import Wire

@testable import Groups

/// Form data that arrives in arbitrary chunks.
@Suite struct MultipartTests {
  private static let form = """
    a preamble\r
    --x\r
    Content-Disposition: form-data; name="group_id"\r
    \r
    a-group\r
    --x  \r
    content-type: image/jpeg\r
    CONTENT-DISPOSITION: form-data; filename="name=no.jpg"; name=file\r
    \r
    \r
    --\r
    --y -x\r\n-\r
    --x\r
    Content-Disposition: form-data; name=""\r
    \r
    \r
    --x--\r
    an epilogue --x
    """

  /// The parts, each with all of its bytes.
  private func parts(_ pieces: [String], boundary: String = "x") throws -> [(name: String, text: String)]? {
    var reader = try #require(
      MultipartReader(contentType: "Multipart/Form-Data; charset=utf-8; boundary=\"\(boundary)\""))
    var parts: [(name: String, text: String)] = []
    var isComplete = false
    for piece in pieces {
      reader.append(ByteBuffer(string: piece))
      while let event = try reader.next() {
        switch event {
        case .partBegan(let name): parts.append((name, ""))
        case .partBytes(let bytes): parts[parts.count - 1].text += String(buffer: bytes)
        case .partEnded: break
        case .ended: isComplete = true
        }
      }
    }
    return isComplete ? parts : nil
  }

  @Test func everyWayToCutItGivesTheSameParts() throws {
    let bytes = Array(Self.form.utf8)
    func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    for cut in 0...bytes.count {
      let parts = try #require(try parts([text(bytes[..<cut]), text(bytes[cut...])]), "\(cut)")
      #expect(parts.map(\.name) == ["group_id", "file", ""])
      #expect(parts.map(\.text) == ["a-group", "\r\n--\r\n--y -x\r\n-", ""])
    }
    let single = try #require(try parts(bytes.map { text([$0]) }))
    #expect(single.map(\.name) == ["group_id", "file", ""])
  }

  @Test func whatIsNotAFormIsNone() throws {
    for type in [
      "", "image/jpeg", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=x",
    ] {
      #expect(MultipartReader(contentType: type) == nil, "\(type)")
    }
    #expect(MultipartReader(contentType: "multipart/form-data; boundary=\(String(repeating: "x", count: 71))") == nil)
    #expect(try parts(["--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x"]) == nil)
    for form in [
      "--x\r\nX: 1\r\n\r\nb\r\n--x--", "--xwhat\r\n", "--x\r\nContent-Disposition: form-data\r\n\r\n\r\n--x--",
      "--x\r\n" + String(repeating: "X: 1\r\n", count: 3000),
      String(repeating: "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n", count: 17) + "--x--",
    ] {
      #expect(throws: Failure.formMalformed) { _ = try parts([form]) }
    }
  }
}
