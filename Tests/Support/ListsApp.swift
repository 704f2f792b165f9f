import Foundation

/// The types that the iOS app for lists decodes; the suites extend it by those that only they need. A required property
/// makes the whole response fail when it is missing, null or of another type; an optional one may be missing or null,
/// and fails for another type.
package enum ListsApp {
  package struct PersonSummary: Decodable {
    package let id: Int
    package let email: String?
    package let name: String?
    package let role: String?
  }

  package struct Tag: Decodable {
    package let id: Int
    package let name: String
    package let color: String?
    package let created_at: String?
    package let tasks_count: Int?
  }

  package struct List: Decodable {
    package let id: Int
    package let name: String
    package let visibility: String
    package let description: String?
    package let color: String?
    package let list_type: String?
    package let role: String?
    package let created_at: String?
    package let updated_at: String?
    package let user: PersonSummary?
    package let tasks_count: Int?
    package let parent_tasks_count: Int?
    package let completed_tasks_count: Int?
    package let overdue_tasks_count: Int?
    package let members: [PersonSummary]?
    package let tags: [Tag]?
  }

  package struct Membership: Decodable {
    package let id: Int
    package let role: String
    package let user: PersonSummary
    package let created_at: String?
    package let updated_at: String?
  }
}

extension Browser.Reply {
  /// The response as the app decodes it: without key conversion, and with times as strings.
  package func read<T: Decodable>(_ type: T.Type, _ status: Int = 200) throws -> T {
    guard self.status == status else { throw Unexpected(reply: text) }
    return try JSONDecoder().decode(type, from: body)
  }
}
