import Database
import Foundation
import Support
import Testing

@testable import Invites

/// The QR codes of invite pages.
@Suite struct QRCodeTests {
  @Test(arguments: engines) func aCodeIsDrawnForItsPage(engine: Engine) async throws {
    try await withStack(engine, ["PUBLIC_URL": "https://api.example.com"]) { stack in
      let alice = try await stack.signIn("alice")
      let code = try await alice.browser.post("/api/groups/\(try await alice.group())/invites").string("code")
      for (name, type) in [("svg", "image/svg+xml"), ("png", "image/png")] {
        let picture = try await stack.gateway.get("/i/\(code)/qr.\(name)")
        #expect(picture.status == 200, "\(picture.text)")
        #expect(picture.headers.first(name: "content-type") == type)
        #expect(picture.headers.first(name: "cache-control") == "public, max-age=3600")
        let page = try QRCode(of: "https://api.example.com/i/\(code)")
        #expect(picture.body == (name == "svg" ? Data(page.svg.utf8) : Data(page.png)))
        for unknown in ["ZZZZZZ", "ZZZZZZZZ", "x", "%3Cscript%3E"] {
          #expect(try await stack.gateway.get("/i/\(unknown)/qr.\(name)").status == 404)
        }
      }
      #expect(try await stack.gateway.get("/i/\(code)/qr.gif").status == 404)
    }
  }

  @Test(arguments: engines) func aGroupsOwnCodeIsDrawnWhileItIsTheGroups(engine: Engine) async throws {
    try await withStack(engine, ["PUBLIC_URL": "https://api.example.com"]) { stack in
      let alice = try await stack.signIn("alice")
      let table = "/rest/v1/social_groups"
      let made = try #require(try await alice.browser.post(table, ["name": "The Cabin"]).list.first)
      let (id, code) = (made["id"] as? String ?? "", made["invite_code"] as? String ?? "")
      let link = made["qr_code"] as? String ?? ""
      #expect(code.count == 6 && link == "https://api.example.com/i/\(code)", "\(made)")
      let drawn = try QRCode(of: link)
      for (name, type, body) in [
        ("svg", "image/svg+xml", Data(drawn.svg.utf8)), ("png", "image/png", Data(drawn.png)),
      ] {
        for spelling in [code, code.lowercased()] {
          let picture = try await stack.gateway.get("/i/\(spelling)/qr.\(name)")
          #expect(picture.status == 200 && picture.headers.first(name: "content-type") == type, "\(picture.text)")
          #expect(picture.body == body, "\(name) of \(spelling)")
        }
      }
      let renewed = try await alice.browser.send(
        .PATCH, "\(table)?id=eq.\(id)", body: Data(#"{"invite_code":null}"#.utf8))
      let newCode = renewed.list.first?["invite_code"] as? String ?? ""
      #expect(newCode.count == 6 && newCode != code, "\(renewed.text)")
      #expect(try await stack.gateway.get("/i/\(code)/qr.png").status == 404)
      #expect(try await stack.gateway.get("/i/\(newCode)/qr.png").status == 200)
      #expect(try await alice.browser.delete("\(table)?id=eq.\(id)").status == 204)
      #expect(try await stack.gateway.get("/i/\(newCode)/qr.svg").status == 404)
    }
  }

  /// An independent encoder makes the same modules, with one of the eight masks: the standard leaves the choice.
  @Test(
    .enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: QR codes were not compared"),
    arguments: ["https://api.example.com/i/K7QM2XWP", "a", String(repeating: "https://example.com/ü/", count: 30)])
  func theModulesAreThoseOfAnotherEncoder(text: String) async throws {
    let code = try QRCode(of: text)
    let png = FileManager.default.temporaryDirectory.appending(path: "kith-\(UUID()).png")
    try Data(code.png).write(to: png)
    // `try?`: a leftover file does no harm.
    defer { try? FileManager.default.removeItem(at: png) }
    let program = """
      import re, qrcode
      from PIL import Image
      text, path = sys.argv[1:3]
      image = Image.open(path).convert("L")
      side = image.width // 8
      shown = [[image.getpixel((x * 8 + 3, y * 8 + 3)) == 0 for x in range(side)] for y in range(side)]
      svg = sys.stdin.read()
      drawn = [[False] * side for _ in range(side)]
      for x, y in re.findall(r"M([0-9]+),([0-9]+)h1v1h-1z", svg):
          drawn[int(y)][int(x)] = True
      assert f'viewBox="0 0 {side} {side}"' in svg and shown == drawn, "the two pictures differ"
      inner = [row[4:-4] for row in shown[4:-4]]
      assert not any(any(row) for row in shown[:4] + shown[-4:]), "no quiet zone"
      version = (len(inner) - 17) // 4
      def made(mask):
          code = qrcode.QRCode(version, qrcode.constants.ERROR_CORRECT_M, border=0, mask_pattern=mask)
          code.add_data(qrcode.util.QRData(text.encode(), mode=qrcode.util.MODE_8BIT_BYTE))
          code.make(fit=False)
          return [[bool(one) for one in row] for row in code.get_matrix()]
      assert inner in [made(mask) for mask in range(8)], "no mask fits"
      """
    _ = try await Python.run(program, input: code.svg, arguments: [text, png.path])
  }

  @Test func whatIsTooLongIsRefused() {
    #expect(throws: (any Error).self) { try QRCode(of: String(repeating: "a", count: 3000)) }
  }
}
