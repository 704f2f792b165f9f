import Database
import Foundation
import Wire

/// What a user and a character have said to each other, kept because the user asked for it.
struct Conversation: Sendable {
  let id: ConversationID
  let timepoint: TimepointID
  let characterName: String
  let messageCount: Int
  let createdAt: Date
  let updatedAt: Date

  struct Message: Sendable {
    let speaker: ChatTurn.Speaker
    let text: String
    let at: Date
  }
}

typealias ConversationID = ID<Conversation>

extension Failure {
  static let conversationNotFound = Failure(.notFound, "session_not_found", "There is no such session.")
  static let conversationFull = Failure(
    .conflict, "session_full", "This session is as long as a session can be. Begin another one.")
}

/// All statements on `conversation` and `character_chat_message`.
enum ConversationStore {
  /// How much of a conversation a character remembers.
  static let historyMax = 40
  private static let messagesMax = 1000
  private static let columns: SQL = "id, timepoint_id, character_name, message_count, created_at, updated_at"

  /// - Throws: 404 when it is not the user's.
  static func find(_ id: ConversationID, of user: UserID, on db: any Connection) throws -> Conversation {
    let row = try db.row("select \(columns) from character_chat where id = \(id) and user_id = \(user)")
    guard let row else { throw Failure.conversationNotFound }
    return try Conversation(row)
  }

  /// The last messages, the oldest first.
  static func messages(
    of id: ConversationID, last limit: Int = messagesMax, on db: any Connection
  ) throws -> [Conversation.Message] {
    try db.rows(
      """
      select role, content, created_at from character_chat_message where chat_id = \(id)
      order by number desc limit \(limit)
      """
    ).reversed().map {
      .init(speaker: try $0.enumValue("role"), text: try $0.get("content"), at: try $0.get("created_at"))
    }
  }

  /// Appends a message and its answer, to a new conversation unless there is one.
  static func append(
    _ turns: [ChatTurn], to id: ConversationID?, of user: UserID, with character: String, in timepoint: TimepointID,
    at now: Date, on db: any Connection
  ) throws -> ConversationID {
    let conversation = try id ?? begin(of: user, with: character, in: timepoint, at: now, on: db)
    let row = try db.row(
      """
      update character_chat set message_count = message_count + \(turns.count), updated_at = \(now)
      where id = \(conversation) and user_id = \(user) and message_count < \(messagesMax) returning message_count
      """)
    guard let row else { throw id == nil ? Failure.conversationNotFound : Failure.conversationFull }
    let end = try row.get("message_count", as: Int.self)
    for (index, turn) in turns.enumerated() {
      try db.enqueue(
        """
        insert into character_chat_message (chat_id, number, role, content, created_at)
        values (\(conversation), \(end - turns.count + index + 1), \(turn.speaker.rawValue), \(turn.text), \(now))
        """)
    }
    return conversation
  }

  private static func begin(
    of user: UserID, with character: String, in timepoint: TimepointID, at now: Date, on db: any Connection
  ) throws -> ConversationID {
    let id = ConversationID.new(at: now)
    try db.change(
      """
      insert into character_chat (id, user_id, timepoint_id, character_name, message_count, created_at, updated_at)
      values (\(id), \(user), \(timepoint), \(character), 0, \(now), \(now))
      """)
    return id
  }

  /// A user's conversations in a timepoint, with the beginning of their last message, the latest first.
  static func list(
    of user: UserID, in timepoint: TimepointID, on db: any Connection
  ) throws -> [(conversation: Conversation, lastMessage: String)] {
    try db.rows(
      """
      select \(columns), (select substr(m.content, 1, 100) from character_chat_message m
        where m.chat_id = character_chat.id order by m.number desc limit 1) as last_message
      from character_chat where user_id = \(user) and timepoint_id = \(timepoint) order by updated_at desc limit 200
      """
    ).map { (try Conversation($0), try $0.optional("last_message") ?? "") }
  }

  static func all(of user: UserID, on db: any Connection) throws -> [Conversation] {
    try db.rows("select \(columns) from character_chat where user_id = \(user) order by updated_at limit 10000")
      .map(Conversation.init)
  }

  /// - Throws: 404 when it is not the user's.
  static func delete(_ id: ConversationID, of user: UserID, on db: any Connection) throws {
    guard try db.change("delete from character_chat where id = \(id) and user_id = \(user)") == 1 else {
      throw Failure.conversationNotFound
    }
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from character_chat where user_id = \(user)")
  }
}

extension Conversation {
  init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), timepoint: try row.get("timepoint_id"), characterName: try row.get("character_name"),
      messageCount: try row.get("message_count"), createdAt: try row.get("created_at"),
      updatedAt: try row.get("updated_at"))
  }
}
