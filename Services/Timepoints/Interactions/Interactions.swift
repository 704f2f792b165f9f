import ClientBodies
import Database
import Foundation
import Web
import Wire

/// Conversations with the characters of a scene.
struct Interactions: Sendable {
  let database: any Database
  let voices: any CharacterVoices
  let now: @Sendable () -> Date

  /// Questions that are asked at the same time.
  private static let answersAtOnce = 6

  /// A timepoint with a scene that the viewer may see.
  ///
  /// - Throws: 404, 403; 400 when it is not completed.
  func scene(of id: TimepointID, for viewer: Viewer) async throws -> GeneratedScene {
    let timepoint = try await database.readOnce { db in try TimepointStore.visible(id, to: viewer, on: db) }
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

  /// The answer of a character. As plain text it has no tone.
  func reply(
    to chat: ChatRequest, by character: SceneCharacter, in scene: GeneratedScene, after history: [ChatTurn],
    receiver: InteractionReceiver?
  ) async throws -> (text: String, tone: String?) {
    guard chat.isPlainText(streamed: receiver != nil) else {
      let reply = try await voices.reply(
        to: chat.message, by: character, in: scene, history: history, model: chat.model)
      receiver?(.token(reply.response, by: character))
      return (reply.response, reply.emotionalTone)
    }
    var text = ""
    let pieces = voices.replyPieces(
      to: chat.message, by: character, in: scene, history: history, model: chat.model)
    for try await piece in pieces {
      text += piece
      receiver?(.token(piece, by: character))
    }
    return (text, nil)
  }

  /// Keeps what was said, when that was asked for. A session is continued, or begun.
  func keep(
    _ chat: ChatRequest, answer: String, of user: UserID, with character: SceneCharacter, in timepoint: TimepointID,
    on db: any Connection
  ) throws -> ConversationID? {
    guard chat.savesSession || chat.session != nil else { return nil }
    let turns = [ChatTurn(speaker: .user, text: chat.message), ChatTurn(speaker: .character, text: answer)]
    return try ConversationStore.append(
      turns, to: chat.session, of: user, with: character.name, in: timepoint, at: now(), on: db)
  }

  /// More lines. A stream gets each one as it is there.
  func lines(
    _ dialog: DialogRequest, of characters: [SceneCharacter], in scene: GeneratedScene,
    receiver: InteractionReceiver?
  ) async throws -> [DialogLine] {
    func send(_ line: DialogLine) throws {
      receiver?(try .line(ClientBodies.DialogLine(line), by: line.speaker))
    }
    guard receiver != nil, dialog.isSequential else {
      let lines = try await voices.lines(
        dialog.lineCount, of: characters, in: scene, topic: dialog.topic, after: scene.dialog, model: dialog.model)
      for line in lines { try send(line) }
      return lines
    }
    var lines: [DialogLine] = []
    while lines.count < dialog.lineCount {
      let next = try await voices.lines(
        1, of: characters, in: scene, topic: dialog.topic, after: scene.dialog + lines, model: dialog.model)
      guard let line = next.first else { throw PipelineFailure.provider(nil) }
      try send(line)
      lines.append(line)
    }
    return lines
  }

  /// All answers in the order of the questions and characters, and their summary. A stream gets each as it is there.
  func survey(
    _ survey: SurveyRequest, of characters: [SceneCharacter], in scene: GeneratedScene,
    receiver: InteractionReceiver?
  ) async throws -> (answers: [SurveyAnswer], summary: String?) {
    let asked = survey.questions.flatMap { question in characters.map { (question, $0) } }
    let answers =
      survey.mode == .sequential || survey.isChained
      ? try await inSequence(asked, survey, scene, receiver) : try await together(asked, survey, scene, receiver)
    guard survey.hasSummary else { return (answers, nil) }
    return (answers, try await voices.summary(of: answers, in: scene, model: survey.model))
  }

  private func inSequence(
    _ asked: [(String, SceneCharacter)], _ survey: SurveyRequest, _ scene: GeneratedScene,
    _ receiver: InteractionReceiver?
  ) async throws -> [SurveyAnswer] {
    var answers: [SurveyAnswer] = []
    for (question, character) in asked {
      let answer = try await voices.answer(
        to: question, by: character, in: scene, earlier: survey.isChained ? answers : [], model: survey.model)
      receiver?(try .line(CharacterSurvey.Answer(answer), by: answer.characterName))
      answers.append(answer)
    }
    return answers
  }

  private func together(
    _ asked: [(String, SceneCharacter)], _ survey: SurveyRequest, _ scene: GeneratedScene,
    _ receiver: InteractionReceiver?
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
        receiver?(try .line(CharacterSurvey.Answer(answer), by: answer.characterName))
        answers[index] = answer
        ask()
      }
      return answers.compactMap { $0 }
    }
  }
}
