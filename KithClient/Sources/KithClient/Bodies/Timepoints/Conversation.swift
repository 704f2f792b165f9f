import Foundation

/// A saved conversation with a character.
public struct Conversation: Sendable, Equatable, Codable, Identifiable {
  /// What one of the two has said.
  public struct Message: Sendable, Equatable, Codable {
    /// Who has said it.
    public enum Role: String, Sendable, Codable {
      case user
      /// The character.
      case assistant
    }

    public let role: Role
    public let content: String
    /// nil for the user.
    @NullCodable public private(set) var characterName: String?
    public let timestamp: Date

    private enum CodingKeys: String, CodingKey {
      case role, content, timestamp
      case characterName = "character_name"
    }

    public init(role: Role, content: String, characterName: String?, timestamp: Date) {
      self.role = role
      self.content = content
      self.characterName = characterName
      self.timestamp = timestamp
    }
  }

  public let id: String
  public let timepointID: Timepoint.ID
  public let characterName: String
  /// The last 1,000, the oldest first.
  public let messages: [Message]
  public let createdAt: Date
  public let updatedAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, messages
    case timepointID = "timepoint_id"
    case characterName = "character_name"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }

  public init(
    id: String, timepointID: Timepoint.ID, characterName: String, messages: [Message], createdAt: Date, updatedAt: Date
  ) {
    self.id = id
    self.timepointID = timepointID
    self.characterName = characterName
    self.messages = messages
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// A saved conversation in a list.
public struct ConversationSummary: Sendable, Equatable, Codable, Identifiable {
  public let id: Conversation.ID
  public let characterName: String
  public let messageCount: Int
  /// At most 100 characters.
  public let lastMessagePreview: String
  public let createdAt: Date
  public let updatedAt: Date

  private enum CodingKeys: String, CodingKey {
    case id
    case characterName = "character_name"
    case messageCount = "message_count"
    case lastMessagePreview = "last_message_preview"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }

  public init(
    id: Conversation.ID, characterName: String, messageCount: Int, lastMessagePreview: String, createdAt: Date,
    updatedAt: Date
  ) {
    self.id = id
    self.characterName = characterName
    self.messageCount = messageCount
    self.lastMessagePreview = lastMessagePreview
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// The user's conversations in a scene.
package struct ConversationsAnswer: Sendable, Codable {
  package let sessions: [ConversationSummary]
  package let total: Int?

  package init(sessions: [ConversationSummary], total: Int?) {
    self.sessions = sessions
    self.total = total
  }
}
