import Foundation
import Testing

/// `docs/keys.md` says of every secret how it is replaced.
@Suite struct KeyDocumentTests {
  @Test func everySecretIsInTheDocument() throws {
    let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: project.appending(path: path), encoding: .utf8)
    }
    let variables = try text(".env.example").matches(of: /(?m)^(?:# )?([A-Z0-9_]+)=/).map { String($0.output.1) }
    let made = try text("scripts/env").matches(of: /add ([A-Z_]+)\s/).map { String($0.output.1) }
    let secrets = Set(variables + made).filter { name in
      name.wholeMatch(of: /.*_(KEY|KEYS|SECRET|TOKEN|PASSWORD|PREVIOUS|HEADERS)|(SMTP|REDIS|.*DATABASE.*)_URL/) != nil
    }
    #expect(secrets.count > 25)
    let document = try text("docs/keys.md")
    #expect(secrets.filter { !document.contains("`\($0)`") && !document.contains("`\($0)=") }.sorted() == [])
  }
}
