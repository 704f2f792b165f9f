import Foundation
import Testing

@testable import KithClient

/// What the answers of timepoints are read as.
@Suite struct TimepointAnswerTests {
  private static let scene = """
    {"id": "t", "query": "Trinity test 1945", "slug": "trinity-test-1945-abc123", "status": "completed", "year": 1945,
     "month": 7, "day": 16, "season": "summer", "time_of_day": "dawn", "era": "Atomic Age", "location": "New Mexico",
     "image_prompt": null, "has_image": true, "image_url": "https://a.example/api/v1/timepoints/t/image",
     "image_base64": "/9j/", "text_model_used": "rehearsal", "image_model_used": null,
     "created_at": "2026-02-09T12:00:00Z", "error": null, "blob_folder_name": null, "blob_path": null,
     "blob_written_at": null, "is_deleted": false, "sequence_id": "t", "render_type": "image",
     "generation_version": 1, "tags": ["atomic age"], "visibility": "public", "share_url": null,
     "preset_used": "balanced", "generation_time_ms": 2100, "request_context": {"my_id": 1}, "credits_charged": 5,
     "metadata": {"title": "Trinity", "timeline": {"year": 1945, "hour": 5, "time_of_day": "dawn"},
      "camera": {"shot": "wide", "focal_point": "the tower"}, "image_style": "photo", "parent_id": null,
      "direction": null},
     "characters": {"characters": [{"name": "Oppenheimer", "role": "director", "speaking_style": "dry",
      "speaks_in_scene": true}], "relationships": [{"from": "Oppenheimer", "to": "Groves", "kind": "colleague",
      "description": "uneasy"}]},
     "scene": {"setting": "a desert", "sounds": ["wind"]}, "dialog": [{"speaker": "Oppenheimer", "text": "Now.",
      "tone": "tense", "action": ""}], "moment": {"summary": "A test.", "emotional_beats": ["fear"]},
     "grounding": {"verified_facts": ["It was dawn."], "assumptions": [], "confidence": 0.5}}
    """

  @Test func aSceneInFullHasItsPeopleAndTheirWords() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in .json(Self.scene) }
    let scene = try await client.timepoints.timepoint(slug: "trinity-test-1945-abc123", full: true)
    #expect(scene.timeOfDay == "dawn" && scene.month == 7 && scene.generationTimeMs == 2100)
    #expect(scene.imageBase64 == Data([0xFF, 0xD8, 0xFF]))
    #expect(scene.characters?.characters.first?.speakingStyle == "dry")
    #expect(scene.characters?.relationships?.first?.to == "Groves")
    #expect(scene.dialog?.first?.tone == "tense" && scene.scene?.sounds == ["wind"])
    #expect(scene.moment?.emotionalBeats == ["fear"] && scene.grounding?.verifiedFacts?.count == 1)
    #expect(scene.metadata?.timeline?.hour == 5 && scene.metadata?.camera?.focalPoint == "the tower")
    #expect(scene.requestContext?["my_id"] == 1)
  }

  @Test func thePeopleInASceneAreDescribed() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in
      .json(
        """
        {"timepoint_id": "t", "query": "Apollo 11", "year": 1969, "location": "Moon", "era": "Space Age",
         "total_characters": 2, "speaking_characters": 1, "characters": [{"name": "Neil", "role": "commander",
         "system_prompt": "He is calm.", "dialog_context": "the dust", "speaks_in_scene": true, "personality": "calm",
         "speaking_style": "brief", "emotional_state": "moved", "historical_note": ""}]}
        """)
    }
    let people = try await client.timepoints.characters(of: "t")
    #expect(people.speakingCharacters == 1 && people.characters.first?.systemPrompt == "He is calm.")
  }

  @Test func aSavedConversationIsListedReadAndDeleted() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      if request.method == "DELETE" { return .json(#"{"id": "s", "deleted": true}"#) }
      return request.url.path.contains("sessions")
        ? .json(
          """
          {"sessions": [{"id": "s", "character_name": "Neil", "message_count": 2, "last_message_preview": "Fine dust.",
           "created_at": "2026-11-21T08:15:30Z", "updated_at": "2026-11-21T08:15:30Z"}], "total": 1}
          """)
        : .json(
          """
          {"id": "s", "timepoint_id": "t", "character_name": "Neil", "messages": [{"role": "user", "content": "Hi",
           "character_name": null, "timestamp": "2026-11-21T08:15:30Z"}, {"role": "assistant", "content": "Fine dust.",
           "character_name": "Neil", "timestamp": "2026-11-21T08:15:31Z"}],
           "created_at": "2026-11-21T08:15:30Z", "updated_at": "2026-11-21T08:15:30Z"}
          """)
    }
    let listed = try #require(try await client.timepoints.conversations(in: "t").first)
    #expect(listed.lastMessagePreview == "Fine dust." && listed.messageCount == 2)
    let conversation = try await client.timepoints.conversation(listed.id)
    #expect(conversation.messages.map(\.role) == [.user, .assistant])
    try await client.timepoints.deleteConversation(listed.id)
    #expect(transport.requests.last?.url.path == "/api/v1/interactions/session/s")
    let (other, _) = try await KithClient.scripted { _, _ in .refusal(404, "session_not_found") }
    let failure = await #expect(throws: KithFailure.self) { try await other.timepoints.conversation("s") }
    #expect(failure?.code == .known(.sessionNotFound))
  }

  @Test func anImageIsSentAgainOnlyWhenItIsAnotherOne() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      request.headers["If-None-Match"] == "\"i\"" ? .json("", status: 304) : .json("jpeg", headers: ["ETag": "\"i\""])
    }
    #expect(try await client.timepoints.image(of: "t") == Data("jpeg".utf8))
    #expect(try await client.timepoints.image(of: "t") == Data("jpeg".utf8))
    #expect(transport.requests.map { $0.headers["If-None-Match"] } == [nil, "\"i\""])
    #expect(transport.requests.map { $0.headers["Accept"] } == ["image/jpeg", "image/jpeg"])
  }

  @Test func aPartOfAnImageSaysOfHowMuch() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      request.headers["Range"] == "bytes=0-1"
        ? .json("jp", status: 206, headers: ["Content-Range": "bytes 0-1/4"])
        : .refusal(416, "range_not_satisfiable")
    }
    let part = try await client.timepoints.image(of: "t", bytes: 0...1)
    #expect(part == TimepointImagePart(data: Data("jp".utf8), totalByteCount: 4))
    let failure = await #expect(throws: KithFailure.self) { try await client.timepoints.image(of: "t", bytes: 9...10) }
    #expect(failure?.code == .known(.rangeNotSatisfiable))
    #expect(transport.requests.count == 2)
  }

  @Test func theModelsOfAServerAreListed() async throws {
    let model = #"{"id": "rehearsal", "provider": "rehearsal", "name": "rehearsal", "makes": "text", "is_free": true}"#
    let (client, _) = try await KithClient.scripted { request, _ in
      switch request.url.lastPathComponent {
      case "models", "free": .json(#"{"models": [\#(model)], "total": 1, "is_rehearsal": true}"#)
      case "providers":
        .json(
          #"{"providers": {"google": {"configured": true, "answering": true}, "openrouter": {"configured": false}}}"#)
      case "rehearsal": .json(model)
      default: .refusal(404, "model_not_found")
      }
    }
    let models = try await client.timepoints.models()
    #expect(models.isRehearsal && models.models.first?.isFree == true)
    #expect(try await client.timepoints.model("rehearsal") == models.models.first)
    #expect(try await client.timepoints.modelProviders()["openrouter"]?.configured == false)
    let failure = await #expect(throws: KithFailure.self) { try await client.timepoints.model("none") }
    #expect(failure?.code == .known(.modelNotFound))
  }
}
