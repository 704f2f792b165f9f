/// What has changed since an earlier answer.
public struct Changes<Element: Sendable & Equatable>: Sendable, Equatable {
  public let changed: [Element]
  public let deletedIDs: [Int]
  /// For the next question.
  public let cursor: String?
  /// Whether there is more: ask again with the cursor.
  public let hasMore: Bool
}
