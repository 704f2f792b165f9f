import ClientBodies
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// A user's own conversations.
struct ConversationRoutes: Sendable {
  let database: any Database
  let access: Access

  func add(to routes: HTTPRoutes) {
    routes.get("/api/v1/interactions/sessions/{id}", use: list)
    routes.get("/api/v1/interactions/session/{id}", use: show)
    routes.delete("/api/v1/interactions/session/{id}", use: delete)
  }

  @Sendable private func list(_ request: Request, _ context: Context) async throws -> Response {
    let (viewer, user) = try access.user(context)
    let id = try context.timepointID()
    let found = try await database.read { db in
      _ = try TimepointStore.visible(id, to: viewer, on: db)
      return try ConversationStore.list(of: user, in: id, on: db)
    }
    return .json(
      ConversationsAnswer(
        sessions: found.map { ConversationSummary($0.conversation, lastMessage: $0.lastMessage) },
        total: found.count))
  }

  @Sendable private func show(_ request: Request, _ context: Context) async throws -> Response {
    let user = try access.user(context).id
    let id = try conversationID(context)
    let (conversation, messages) = try await database.read { db in
      (try ConversationStore.find(id, of: user, on: db), try ConversationStore.messages(of: id, on: db))
    }
    return .json(ClientBodies.Conversation(conversation, messages))
  }

  @Sendable private func delete(_ request: Request, _ context: Context) async throws -> Response {
    let user = try access.user(context).id
    let id = try conversationID(context)
    try await database.write { db in try ConversationStore.delete(id, of: user, on: db) }
    return .json(DeletedSessionBody(id: id, deleted: true))
  }

  private func conversationID(_ context: Context) throws(Failure) -> ConversationID {
    guard let id = context.parameters.get("id").flatMap({ ConversationID($0) }) else { throw .conversationNotFound }
    return id
  }
}

extension ConversationSummary {
  fileprivate init(_ conversation: Conversation, lastMessage: String) {
    self.init(
      id: conversation.id.description, characterName: conversation.characterName,
      messageCount: conversation.messageCount, lastMessagePreview: lastMessage, createdAt: conversation.createdAt,
      updatedAt: conversation.updatedAt)
  }
}

extension ClientBodies.Conversation {
  init(_ conversation: Timepoints.Conversation, _ messages: [Timepoints.Conversation.Message]) {
    self.init(
      id: conversation.id.description, timepointID: conversation.timepoint.description,
      characterName: conversation.characterName,
      messages: messages.map { message in
        let isUser = message.speaker == .user
        return Message(
          role: isUser ? .user : .assistant, content: message.text,
          characterName: isUser ? nil : conversation.characterName, timestamp: message.at)
      }, createdAt: conversation.createdAt, updatedAt: conversation.updatedAt)
  }
}

private struct DeletedSessionBody: Encodable {
  let id: ConversationID
  let deleted: Bool
}
