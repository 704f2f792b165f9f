import Foundation

/// What comes of an answer while it is made.
public enum StreamedAnswer<Piece: Sendable & Equatable, Whole: Sendable & Equatable>: Sendable, Equatable {
  /// The next words, line or answer.
  case piece(Piece)
  /// Everything, at the end. After a connection was lost, it may come without the last pieces.
  case whole(Whole)
}

/// What a character answered.
public struct CharacterReply: Sendable, Equatable, Decodable {
  public let characterName: String
  public let response: String
  /// Where the conversation is saved.
  public let sessionID: Conversation.ID?
  /// nil for an answer that was asked for as text.
  public let emotionalTone: String?
  /// In milliseconds.
  public let latencyMs: Int?
}

/// What characters went on to say.
public struct CharacterDialog: Sendable, Equatable, Decodable {
  public let dialog: [DialogLine]
  /// What happens in the scene.
  public let context: String?
  public let charactersInvolved: [String]?
  /// In milliseconds.
  public let latencyMs: Int?
}

/// What characters answered to the same questions.
public struct CharacterSurvey: Sendable, Equatable, Decodable {
  /// What one character answered to one question.
  public struct Answer: Sendable, Equatable, Decodable {
    public let characterName: String
    public let question: String
    public let response: String
    /// `positive`, `negative`, `neutral` or `mixed`.
    public let sentiment: String?
    public let keyPoints: [String]?
    public let emotionalTone: String?
  }

  public let questions: [String]?
  /// In the order of the questions, and for each in that of the characters.
  public let responses: [Answer]
  public let summary: String?
  public let totalCharacters: Int?
  /// In milliseconds.
  public let latencyMs: Int?
}

/// A saved conversation with a character.
public struct Conversation: Sendable, Equatable, Decodable, Identifiable {
  /// What one of the two has said.
  public struct Message: Sendable, Equatable, Decodable {
    /// Who has said it.
    public enum Role: String, Sendable, Decodable {
      case user
      /// The character.
      case assistant
    }

    public let role: Role
    public let content: String
    /// nil for the user.
    public let characterName: String?
    public let timestamp: Date
  }

  public let id: String
  public let timepointID: Timepoint.ID
  public let characterName: String
  /// The last 1,000, the oldest first.
  public let messages: [Message]
  public let createdAt: Date
  public let updatedAt: Date
}

/// A saved conversation in a list.
public struct ConversationSummary: Sendable, Equatable, Decodable, Identifiable {
  public let id: Conversation.ID
  public let characterName: String
  public let messageCount: Int
  /// At most 100 characters.
  public let lastMessagePreview: String
  public let createdAt: Date
  public let updatedAt: Date
}
