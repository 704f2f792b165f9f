import Foundation
import KithClient

/// Scenes from history, and the people in them.
extension Tour {
  func timepoints() async throws {
    print("\nA scene from history")
    let models = try await alice.timepoints.models()
    print(
      "  made by \(models.models.map(\.name).joined(separator: ", "))\(models.isRehearsal ? ", as a rehearsal" : "")")
    var request = TimepointRequest("Trinity test 1945")
    request.generateImage = true
    var id: Timepoint.ID?
    for try await step in alice.timepoints.generating(request) {
      print("  \(step.step ?? step.event)", terminator: "")
      id = step.timepointID ?? id
    }
    print()
    guard let id else { return print("  the scene was not made") }
    let scene = try await alice.timepoints.timepoint(id, full: true)
    print("  \(scene.slug), in the year \(scene.year ?? 0): \(scene.moment?.summary ?? "")")
    print("  Bob finds it by its link: \(try await bob.timepoints.timepoint(slug: scene.slug).query)")
    if scene.hasImage == true { try await image(of: id) }
    try await people(in: id)
    let jump = try await alice.timepoints.jump(from: id, .prior, units: 1, of: .year)
    print("  a year earlier: \(jump.targetYear ?? 0)")
  }

  private func image(of id: Timepoint.ID) async throws {
    let image = try await alice.timepoints.image(of: id)
    let part = try await alice.timepoints.image(of: id, bytes: 0...9)
    print("  its image has \(image.count) bytes; the first \(part.data.count) of \(part.totalByteCount) by themselves")
  }

  private func people(in id: Timepoint.ID) async throws {
    let people = try await alice.timepoints.characters(of: id).characters
    guard let person = people.first else { return }
    print("  \(person.name), \(person.role): ", terminator: "")
    let question = ChatRequest("What do you see?", to: person.name, isSaved: true)
    for try await part in alice.timepoints.chatStream(question, in: id) {
      if case .piece(let words) = part { print(words, terminator: "") }
    }
    print()
    for conversation in try await alice.timepoints.conversations(in: id) {
      print("  saved: \(conversation.messageCount) messages with \(conversation.characterName)")
      try await alice.timepoints.deleteConversation(conversation.id)
    }
    for try await part in alice.timepoints.dialogStream(DialogRequest(lineCount: 2), in: id) {
      if case .piece(let line) = part { print("  \(line.speaker): \(line.text)") }
    }
    let survey = try await alice.timepoints.survey(SurveyRequest(["What do you fear?"]), in: id)
    print("  \(survey.responses.count) were asked what they fear: \(survey.summary ?? "")")
  }
}
