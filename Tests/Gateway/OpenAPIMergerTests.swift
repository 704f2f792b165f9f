import Foundation
import Testing
import Web

@testable import Gateway

/// Merges documents of several services.
@Suite struct OpenAPIMergerTests {
  private typealias Object = OpenAPIMerger.Object
  private let own: Object = [
    "paths": [String: Any](),
    "components": [
      "responses": [
        "NotARequest": [
          "description": "malformed", "content": ["application/problem+json": ["schema": ["type": "object"]]],
        ]
      ]
    ],
  ]

  private func service(_ schema: Object, at path: String, _ responses: Object) -> Object {
    [
      "paths": [path: ["get": ["responses": responses]]],
      "components": ["schemas": ["Thing": schema]],
    ]
  }

  private func merged(_ documents: [Object]) throws -> Object {
    var merge = OpenAPIMerger(own, publicURL: "/")
    for (document, service) in zip(documents, [ServiceName.auth, .credits]) {
      merge.add(document, of: service) { _, path in Route(.GET, path, to: service) }
    }
    return merge.document
  }

  private let reference: Object = [
    "200": [
      "description": "a thing",
      "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Thing"]]],
    ]
  ]

  private func schemas(_ document: Object) -> Object {
    (document["components"] as? Object)?["schemas"] as? Object ?? [:]
  }

  private func text(_ value: Any?) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: try #require(value)), as: UTF8.self)
  }

  @Test func theSameNameForTwoThingsBecomesTwoNames() throws {
    let document = try merged([
      service(["type": "object"], at: "/a", reference), service(["type": "string"], at: "/b", reference),
    ])
    #expect(Set(schemas(document).keys) == ["Thing", "credits_Thing"])
    let paths = try #require(document["paths"] as? Object)
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
    func documentReferring(to type: String, at path: String) -> Object {
      var document = service(["type": type], at: path, ["200": ["$ref": "#/components/responses/One"]])
      var components = document["components"] as? Object ?? [:]
      components["responses"] = ["One": reference["200"] ?? [:]]
      document["components"] = components
      return document
    }
    let document = try merged([documentReferring(to: "object", at: "/a"), documentReferring(to: "string", at: "/b")])
    let responses = try #require((document["components"] as? Object)?["responses"] as? Object)
    #expect(try text(responses["One"]).contains(#"schemas\/Thing""#))
    #expect(try text(responses["credits_One"]).contains(#"schemas\/credits_Thing""#))
  }

  /// A page for a wrong link and a problem document for a malformed request can have the same status.
  @Test func aStatusOfBothHasTheContentOfBoth() throws {
    let page: Object = [
      "400": ["description": "No link.", "content": ["text/html": ["schema": ["type": "string"]]]]
    ]
    let document = try merged([service(["type": "object"], at: "/a", page)])
    let response = try text(document["paths"])
    #expect(response.contains(#""text\/html""#) && response.contains(#""application\/problem+json""#))
    #expect(response.contains("No link. By the gateway: malformed"))
  }
}
