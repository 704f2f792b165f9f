import Support

extension ListsApp {
  struct User: Decodable {
    let id: Int
    let email: String
    let role: String
    let name: String?
    let timezone: String?
    let has_password: Bool?
  }

  struct Session: Decodable {
    let user: User
    let token: String
    let refresh_token: String?
  }

  struct Subtask: Decodable {
    let id: Int
    let title: String
    let parent_task_id: Int?
    let position: Int?
    let note: String?
    let status: String?
    let completed_at: String?
    let created_at: String?
    let updated_at: String?
  }

  struct Reschedule: Decodable {
    struct RescheduledBy: Decodable {
      let id: Int
      let name: String?
    }

    let id: Int
    let task_id: Int?
    let original_due_at: String?
    let new_due_at: String?
    let reason: String?
    let created_at: String?
    let rescheduled_by: RescheduledBy?
  }

  struct Task: Decodable {
    let id: Int
    let list_id: Int
    let title: String
    let list_name: String?
    let color: String?
    let note: String?
    let due_at: String?
    let completed_at: String?
    let status: String?
    let created_at: String?
    let updated_at: String?
    let recurrence_pattern: String?
    let recurrence_end_date: String?
    let instance_date: String?
    let location_name: String?
    let missed_reason: String?
    let missed_reason_submitted_at: String?
    let priority: Int?
    let position: Int?
    let parent_task_id: Int?
    let recurrence_interval: Int?
    let recurrence_count: Int?
    let template_id: Int?
    let instance_number: Int?
    let location_radius_meters: Int?
    let notification_interval_minutes: Int?
    let subtasks_count: Int?
    let subtasks_completed_count: Int?
    let subtask_completion_percentage: Int?
    let minutes_overdue: Int?
    let recurrence_days: [Int]?
    let location_latitude: Double?
    let location_longitude: Double?
    let starred: Bool?
    let hidden: Bool?
    let can_edit: Bool?
    let can_delete: Bool?
    let is_recurring: Bool?
    let location_based: Bool?
    let notify_on_arrival: Bool?
    let notify_on_departure: Bool?
    let has_subtasks: Bool?
    let overdue: Bool?
    let requires_explanation_if_missed: Bool?
    let tags: [Tag]?
    let reschedule_events: [Reschedule]?
    let subtasks: [Subtask]?
    let creator: PersonSummary?
  }

  struct Friends: Decodable { let friends: [PersonSummary] }

  struct Today: Decodable {
    struct Stats: Decodable {
      let overdue_count: Int?
      let total_due_today: Int?
      let completed_today: Int?
      let remaining_today: Int?
      let completion_percentage: Int?
    }

    struct Streak: Decodable {
      let current: Int
      let longest: Int
    }

    let overdue: [Task]
    let due_today: [Task]
    let completed_today: [Task]
    let has_more_overdue: Bool?
    let stats: Stats?
    let streak: Streak?
  }

  struct Lists: Decodable {
    let lists: [List]
    let tombstones: [String]?
  }

  struct OneList: Decodable { let list: List }
  struct Tasks: Decodable {
    let tasks: [Task]
    let tombstones: [String]?
  }

  struct OneTask: Decodable { let task: Task }
  struct Subtasks: Decodable { let subtasks: [Subtask] }
  struct OneSubtask: Decodable { let subtask: Subtask }
  struct Tags: Decodable { let tags: [Tag] }
  struct OneTag: Decodable { let tag: Tag }
  struct Memberships: Decodable { let memberships: [Membership] }
  struct OneMembership: Decodable { let membership: Membership }
}
