/// A group that was made.
package struct CreatedGroupAnswer: Sendable, Codable {
  package let id: SharedGroup.ID
  package let name: String?

  package init(id: SharedGroup.ID, name: String?) {
    self.id = id
    self.name = name
  }
}

/// Whether the user has sent the photo of the day.
package struct DailyStatusAnswer: Sendable, Codable {
  package let hasSentToday: Bool

  private enum CodingKeys: String, CodingKey {
    case hasSentToday = "has_sent_today"
  }

  package init(hasSentToday: Bool) {
    self.hasSentToday = hasSentToday
  }
}
