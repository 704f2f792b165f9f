import Database
import Foundation
import Hummingbird
import Web
import Wire

/// A user's own conversations.
struct ConversationRoutes: Sendable {
  let database: any Database
  let access: Access

  func add(to routes: Router<Context>) {
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
    return .json(SessionsBody(sessions: found.map(SessionsBody.Session.init), total: found.count))
  }

  @Sendable private func show(_ request: Request, _ context: Context) async throws -> Response {
    let user = try access.user(context).id
    let id = try conversationID(context)
    let (conversation, messages) = try await database.read { db in
      (try ConversationStore.find(id, of: user, on: db), try ConversationStore.messages(of: id, on: db))
    }
    return .json(ConversationBody(conversation, messages))
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

private struct SessionsBody: Encodable {
  struct Session: Encodable {
    let id: ConversationID
    let character_name: String
    let message_count: Int
    let last_message_preview: String
    let created_at: Date
    let updated_at: Date

    init(_ found: (conversation: Conversation, lastMessage: String)) {
      id = found.conversation.id
      character_name = found.conversation.characterName
      message_count = found.conversation.messageCount
      last_message_preview = found.lastMessage
      created_at = found.conversation.createdAt
      updated_at = found.conversation.updatedAt
    }
  }

  let sessions: [Session]
  let total: Int
}

struct ConversationBody: Encodable, Sendable {
  struct Message: Encodable, Sendable {
    /// As apps know it from other chat APIs.
    let role: String
    let content: String
    @NullCodable var character_name: String?
    let timestamp: Date
  }

  let id: ConversationID
  let timepoint_id: TimepointID
  let character_name: String
  let messages: [Message]
  let created_at: Date
  let updated_at: Date

  init(_ conversation: Conversation, _ messages: [Conversation.Message]) {
    id = conversation.id
    timepoint_id = conversation.timepoint
    character_name = conversation.characterName
    self.messages = messages.map { message in
      let isUser = message.speaker == .user
      return Message(
        role: isUser ? "user" : "assistant", content: message.text,
        character_name: isUser ? nil : conversation.characterName, timestamp: message.at)
    }
    created_at = conversation.createdAt
    updated_at = conversation.updatedAt
  }
}

private struct DeletedSessionBody: Encodable {
  let id: ConversationID
  let deleted: Bool
}
