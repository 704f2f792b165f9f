import Foundation
import Testing
import Web

@testable import Gateway

/// Documents of several services as one.
@Suite struct MergeTests {
  private let own: Merge.Object = [
    "paths": [String: Any](),
    "components": [
      "responses": [
        "NotARequest": [
          "description": "malformed", "content": ["application/problem+json": ["schema": ["type": "object"]]],
        ]
      ]
    ],
  ]

  private func service(_ schema: Merge.Object, at path: String, _ responses: Merge.Object) -> Merge.Object {
    [
      "paths": [path: ["get": ["responses": responses]]],
      "components": ["schemas": ["Thing": schema]],
    ]
  }

  private func merged(_ documents: [Merge.Object]) throws -> Merge.Object {
    var merge = Merge(own, publicURL: "/")
    for (document, service) in zip(documents, [ServiceName.auth, .credits]) {
      merge.add(document, of: service) { _, path in Route(.GET, path, to: service) }
    }
    return merge.document
  }

  private let reference: Merge.Object = [
    "200": [
      "description": "a thing",
      "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Thing"]]],
    ]
  ]

  private func schemas(_ document: Merge.Object) -> Merge.Object {
    (document["components"] as? Merge.Object)?["schemas"] as? Merge.Object ?? [:]
  }

  private func text(_ value: Any?) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: try #require(value)), as: UTF8.self)
  }

  @Test func theSameNameForTwoThingsBecomesTwoNames() throws {
    let document = try merged([
      service(["type": "object"], at: "/a", reference), service(["type": "string"], at: "/b", reference),
    ])
    #expect(Set(schemas(document).keys) == ["Thing", "credits_Thing"])
    let paths = try #require(document["paths"] as? Merge.Object)
    #expect(try text(paths["/a"]).contains(#"schemas\/Thing""#))
    #expect(try text(paths["/b"]).contains(#"schemas\/credits_Thing""#))
  }

  @Test func theSameNameForTheSameThingStaysOne() throws {
    let document = try merged([
      service(["type": "object"], at: "/a", reference), service(["type": "object"], at: "/b", reference),
    ])
    #expect(Set(schemas(document).keys) == ["Thing"])
  }

  @Test func whatLeadsToAThingOfAnotherNameIsAnotherThing() throws {
    func leading(to type: String, at path: String) -> Merge.Object {
      var document = service(["type": type], at: path, ["200": ["$ref": "#/components/responses/One"]])
      var components = document["components"] as? Merge.Object ?? [:]
      components["responses"] = ["One": reference["200"] ?? [:]]
      document["components"] = components
      return document
    }
    let document = try merged([leading(to: "object", at: "/a"), leading(to: "string", at: "/b")])
    let responses = try #require((document["components"] as? Merge.Object)?["responses"] as? Merge.Object)
    #expect(try text(responses["One"]).contains(#"schemas\/Thing""#))
    #expect(try text(responses["credits_One"]).contains(#"schemas\/credits_Thing""#))
  }

  /// A page for a wrong link and a problem for a wrong request can have the same status.
  @Test func aStatusOfBothHasTheContentOfBoth() throws {
    let page: Merge.Object = [
      "400": ["description": "No link.", "content": ["text/html": ["schema": ["type": "string"]]]]
    ]
    let document = try merged([service(["type": "object"], at: "/a", page)])
    let answer = try text(document["paths"])
    #expect(answer.contains(#""text\/html""#) && answer.contains(#""application\/problem+json""#))
    #expect(answer.contains("No link. By the gateway: malformed"))
  }
}
