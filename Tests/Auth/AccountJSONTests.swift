import ClientBodies
import Support
import Testing
import Wire

@testable import Auth

@Suite struct AccountJSONTests {
  @Test func anAccountIsWrittenAsItIsEncoded() throws { try ClientBodies.Account.expectWritesWhatItEncodes() }
}
