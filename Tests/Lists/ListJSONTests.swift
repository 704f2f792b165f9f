import ClientBodies
import Support
import Testing
import Wire

@testable import Lists

@Suite struct ListJSONTests {
  @Test func bodiesAreWrittenAsTheyAreEncoded() throws {
    try ListsAnswer.expectWritesWhatItEncodes()
    try ListAnswer.expectWritesWhatItEncodes()
    try TasksAnswer.expectWritesWhatItEncodes()
    try TaskAnswer.expectWritesWhatItEncodes()
    try TaskPage.expectWritesWhatItEncodes()
    try [ClientBodies.ListTask].expectWritesWhatItEncodes()
  }
}
