import Foundation

/// Plans, places, hunts, groups that are joined by a code, and shared arrival times.
///
/// Answers are kept in memory as long as the contract says, and read anew after a change.
public struct Adventures: Sendable {
  let api: API

  /// The user's own, the newest first. Kept for 30 minutes.
  public func plans() async throws -> [AdventurePlan] {
    try await rows("adventure_plans", ["order": "created_at.desc"], .plans)
  }

  /// Makes a draft.
  ///
  /// - Throws: ``KithFailure``, such as `VALIDATION_ERROR`.
  public func createPlan(
    title: String, description: String? = nil, stops: [AdventurePlan.Stop] = []
  ) async throws -> AdventurePlan {
    struct Body: Encodable {
      let title: String
      let description: String?
      let stops: [AdventurePlan.Stop]
    }
    return try await row(
      try .post("/rest/v1/adventure_plans", Body(title: title, description: description, stops: stops)), .plans)
  }

  /// What is nil stays as it is. Safe to repeat.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for one that is not the user's.
  public func changePlan(
    _ id: AdventurePlan.ID, title: String? = nil, description: String? = nil, stops: [AdventurePlan.Stop]? = nil,
    status: AdventureStatus? = nil
  ) async throws -> AdventurePlan {
    struct Body: Encodable {
      let title: String?
      let description: String?
      let stops: [AdventurePlan.Stop]?
      let status: AdventureStatus?
    }
    let body = Body(title: title, description: description, stops: stops, status: status)
    return try await row(try Call.patch("/rest/v1/adventure_plans", body).filtered("id", id), .plans)
  }

  /// Safe to repeat: what is not there stays so.
  public func deletePlan(_ id: AdventurePlan.ID) async throws { try await delete("adventure_plans", id, .plans) }

  /// The user's own, the newest first.
  public func places() async throws -> [SavedPlace] {
    try await rows("saved_places", ["order": "created_at.desc"], .places)
  }

  /// - Throws: ``KithFailure``, such as `VALIDATION_ERROR` for a place that is not on the earth.
  public func savePlace(
    name: String, address: String, at coordinate: Coordinate, category: String? = nil
  ) async throws -> SavedPlace {
    struct Body: Encodable {
      let name: String
      let address: String
      let latitude: Double
      let longitude: Double
      let category: String?
    }
    let body = Body(
      name: name, address: address, latitude: coordinate.latitude, longitude: coordinate.longitude,
      category: category)
    return try await row(try .post("/rest/v1/saved_places", body), .places)
  }

  /// What is nil stays as it is. Safe to repeat.
  ///
  /// - Throws: ``KithFailure/invalid(_:)`` for one that is not the user's.
  public func changePlace(
    _ id: SavedPlace.ID, name: String? = nil, address: String? = nil, at coordinate: Coordinate? = nil,
    category: String? = nil
  ) async throws -> SavedPlace {
    struct Body: Encodable {
      let name: String?
      let address: String?
      let latitude: Double?
      let longitude: Double?
      let category: String?
    }
    let body = Body(
      name: name, address: address, latitude: coordinate?.latitude, longitude: coordinate?.longitude,
      category: category)
    return try await row(try Call.patch("/rest/v1/saved_places", body).filtered("id", id), .places)
  }

  /// Safe to repeat.
  public func deletePlace(_ id: SavedPlace.ID) async throws { try await delete("saved_places", id, .places) }

  func rows<Row: Decodable & Sendable>(
    _ table: String, _ query: [String: String], _ cache: CachePolicy
  ) async throws -> [Row] {
    try await api.value(.get("/rest/v1/\(table)", query, cache: cache))
  }

  /// The row that was made or changed. None means that there is none that the user may see.
  func row<Row: Decodable & Sendable>(_ call: Call, _ cache: CachePolicy) async throws -> Row {
    let rows = try await api.value(call.with { $0.cache = cache }, as: OneOrMore<Row>.self).rows
    guard let row = rows.first else { throw KithFailure.invalid("There is nothing here.") }
    return row
  }

  func delete(_ table: String, _ id: String, _ cache: CachePolicy) async throws {
    _ = try await api.send(Call.delete("/rest/v1/\(table)").filtered("id", id).with { $0.cache = cache })
  }
}

/// A row by itself, or rows in an array.
private struct OneOrMore<Row: Decodable & Sendable>: Decodable, Sendable {
  let rows: [Row]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let rows = try? container.decode([Row].self) {
      self.rows = rows
    } else {
      rows = [try container.decode(Row.self)]
    }
  }
}

extension Call {
  func filtered(_ column: String, _ value: String) -> Call { with { $0.query.append((column, "eq.\(value)")) } }
}
