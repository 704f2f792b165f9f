import Foundation
import Testing

@testable import KithClient

/// A body that a service writes is read, and written again with the same members and nulls.
func expectRoundTrip<Body: Codable>(
  _ type: Body.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let body = try WireCoding.decode(type, from: Data(text.utf8))
  let written = try WireCoding.encode(body)
  #expect(try members(written) == members(Data(text.utf8)), sourceLocation: sourceLocation)
}

/// What a server of an earlier version writes is read: the members that are new are not there.
func expectDecodable<Body: Codable & Equatable>(
  _ type: Body.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let body = try WireCoding.decode(type, from: Data(text.utf8))
  let again = try WireCoding.decode(type, from: WireCoding.encode(body))
  #expect(again == body, sourceLocation: sourceLocation)
}

private func members(_ data: Data) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: data) }
