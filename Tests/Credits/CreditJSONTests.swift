import ClientBodies
import Support
import Testing
import Wire

@testable import Credits

@Suite struct CreditJSONTests {
  @Test func aBalanceIsWrittenAsItIsEncoded() throws { try CreditBalance.expectWritesWhatItEncodes() }
}
