/// The user's own tags.
extension Tasks {
  /// By name.
  public func tags() async throws -> [ListTask.Tag] {
    try await api.value(.get("/api/v1/tags", cache: .lists), as: TagsAnswer.self).tags
  }

  /// - Throws: ``KithFailure``, such as `tag_not_found`.
  public func tag(_ id: ListTask.Tag.ID) async throws -> ListTask.Tag {
    try await api.value(.get("/api/v1/tags/\(id)", cache: .lists), as: TagAnswer.self).tag
  }

  /// - Parameter name: unique, whatever the case.
  /// - Throws: ``KithFailure``, such as `validation_error` for a name that there is, or `too_many_tags`.
  public func createTag(_ name: String, color: String? = nil) async throws -> ListTask.Tag {
    try await api.value(changing(try .post("/api/v1/tags", ["tag": fields(name, color)])), as: TagAnswer.self).tag
  }

  /// Changes a tag on every task that has it. What is nil stays as it is. Safe to repeat.
  ///
  /// - Throws: as ``createTag(_:color:)``.
  public func changeTag(
    _ id: ListTask.Tag.ID, name: String? = nil, color: String? = nil
  ) async throws -> ListTask.Tag {
    try await api.value(changing(try .patch("/api/v1/tags/\(id)", ["tag": fields(name, color)])), as: TagAnswer.self)
      .tag
  }

  /// Takes a tag off every task. Safe to repeat.
  public func deleteTag(_ id: ListTask.Tag.ID) async throws {
    _ = try await api.send(changing(.delete("/api/v1/tags/\(id)")))
  }

  private func fields(_ name: String?, _ color: String?) -> [String: String] {
    var fields: [String: String] = [:]
    fields["name"] = name
    fields["color"] = color
    return fields
  }
}
