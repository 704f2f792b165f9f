import Database
import Foundation
import Web
import Wire

/// Conversations with the characters of a scene.
struct Interactions: Sendable {
  let database: any Database
  let voices: any CharacterVoices
  let work: ChargedWork
  let now: @Sendable () -> Date

  /// Questions that are asked at the same time.
  private static let answersAtOnce = 6

  /// A timepoint with a scene that the viewer may see.
  ///
  /// - Throws: 404, 403; 400 when it is not completed.
  func scene(of id: TimepointID, for viewer: Viewer) async throws -> GeneratedScene {
    let timepoint = try await database.read { db in try TimepointStore.visible(id, to: viewer, on: db) }
    guard let scene = timepoint.scene else { throw Failure.timepointNotCompleted }
    return scene
  }

  /// What was said in a session before.
  ///
  /// - Throws: 404 for a session of another user, timepoint or character.
  func history(
    _ chat: ChatRequest, of user: UserID, with character: SceneCharacter, in timepoint: TimepointID
  ) async throws -> [ChatTurn] {
    guard let session = chat.session else { return [] }
    return try await database.read { db in
      let conversation = try ConversationStore.find(session, of: user, on: db)
      guard conversation.timepoint == timepoint, conversation.characterName == character.name else {
        throw Failure.conversationNotFound
      }
      return try ConversationStore.messages(of: session, last: ConversationStore.historyMax, on: db)
        .map { ChatTurn(speaker: $0.speaker, text: $0.text) }
    }
  }

  /// Keeps and charges an answer. A session is continued, or begun when that was asked for.
  func finish(
    _ chat: ChatRequest, _ answer: String, of user: UserID, with character: SceneCharacter, in timepoint: TimepointID,
    _ charge: ChargeID?
  ) async throws -> ConversationID? {
    let turns = [ChatTurn(speaker: .user, text: chat.message), ChatTurn(speaker: .character, text: answer)]
    let now = now()
    return try await work.earn(charge) { db in
      guard chat.savesSession || chat.session != nil else { return nil }
      return try ConversationStore.append(
        turns, to: chat.session, of: user, with: character.name, in: timepoint, at: now, on: db)
    }
  }

  /// More lines; `onLine` gets each one as it is there.
  func lines(
    _ dialog: DialogRequest, of characters: [SceneCharacter], in scene: GeneratedScene,
    onLine: (@Sendable (DialogLine) -> Void)? = nil
  ) async throws -> [DialogLine] {
    guard let onLine, dialog.isSequential else {
      let lines = try await voices.lines(
        dialog.lineCount, of: characters, in: scene, topic: dialog.topic, after: scene.dialog, model: dialog.model)
      if let onLine { lines.forEach(onLine) }
      return lines
    }
    var lines: [DialogLine] = []
    while lines.count < dialog.lineCount {
      let next = try await voices.lines(
        1, of: characters, in: scene, topic: dialog.topic, after: scene.dialog + lines, model: dialog.model)
      guard let line = next.first else { throw PipelineFailure.provider(nil) }
      onLine(line)
      lines.append(line)
    }
    return lines
  }

  /// All answers in the order of the questions and characters, and their summary; `onAnswer` gets each as it is there.
  func survey(
    _ survey: SurveyRequest, of characters: [SceneCharacter], in scene: GeneratedScene,
    onAnswer: (@Sendable (SurveyAnswer) -> Void)? = nil
  ) async throws -> (answers: [SurveyAnswer], summary: String?) {
    let asked = survey.questions.flatMap { question in characters.map { (question, $0) } }
    let answers =
      survey.mode == .sequential || survey.isChained
      ? try await inSequence(asked, survey, scene, onAnswer) : try await together(asked, survey, scene, onAnswer)
    guard survey.hasSummary else { return (answers, nil) }
    return (answers, try await voices.summary(of: answers, in: scene, model: survey.model))
  }

  private func inSequence(
    _ asked: [(String, SceneCharacter)], _ survey: SurveyRequest, _ scene: GeneratedScene,
    _ onAnswer: (@Sendable (SurveyAnswer) -> Void)?
  ) async throws -> [SurveyAnswer] {
    var answers: [SurveyAnswer] = []
    for (question, character) in asked {
      let answer = try await voices.answer(
        to: question, by: character, in: scene, earlier: survey.isChained ? answers : [], model: survey.model)
      onAnswer?(answer)
      answers.append(answer)
    }
    return answers
  }

  private func together(
    _ asked: [(String, SceneCharacter)], _ survey: SurveyRequest, _ scene: GeneratedScene,
    _ onAnswer: (@Sendable (SurveyAnswer) -> Void)?
  ) async throws -> [SurveyAnswer] {
    try await withThrowingTaskGroup(of: (Int, SurveyAnswer).self) { group in
      var answers = [SurveyAnswer?](repeating: nil, count: asked.count)
      var next = 0
      func ask() {
        guard next < asked.count else { return }
        let (index, (question, character)) = (next, asked[next])
        next += 1
        group.addTask {
          (index, try await voices.answer(to: question, by: character, in: scene, earlier: [], model: survey.model))
        }
      }
      for _ in 0..<Self.answersAtOnce { ask() }
      while let (index, answer) = try await group.next() {
        onAnswer?(answer)
        answers[index] = answer
        ask()
      }
      return answers.compactMap { $0 }
    }
  }
}
