import Foundation
import Testing

@testable import KithClient

/// The bodies of scenes and of talks in them, as the service writes them.
@Suite struct TimepointBodyTests {
  private static let time = #""2026-11-21T08:15:30.123Z""#

  private static let scene = """
    "id": "t", "query": "Trinity test 1945", "slug": "trinity-test-1945-abc123", "status": "completed", "year": 1945,
     "month": 7, "day": null, "season": null, "time_of_day": "dawn", "era": "Atomic Age", "location": "New Mexico",
     "image_prompt": null, "has_image": true, "image_url": "https://a.example/api/v1/timepoints/t/image",
     "text_model_used": "rehearsal", "image_model_used": null, "created_at": \(time), "error": null,
     "blob_folder_name": null, "blob_path": null, "blob_written_at": null, "is_deleted": false, "sequence_id": "t",
     "render_type": "image", "generation_version": 1, "tags": ["atomic age"], "visibility": "public",
     "share_url": null, "preset_used": "balanced", "generation_time_ms": 2100, "request_context": {"my_id": [1, null]},
     "credits_charged": null
    """

  private static let line = #"{"speaker": "Oppenheimer", "text": "Now.", "action": ""}"#

  @Test func scenes() throws {
    try expectRoundTrip(Timepoint.self, "{\(Self.scene)}")
    try expectRoundTrip(
      TimepointPage<Timepoint>.self, #"{"items": [{\#(Self.scene)}], "total": 1, "page": 1, "page_size": 20}"#)
    try expectRoundTrip(
      Timepoint.self,
      """
      {\(Self.scene), "image_base64": "/9j/+A==", "metadata": {"title": "Trinity", "timeline": {"year": 1945, "hour": 5,
       "time_of_day": "dawn", "era": "Atomic Age", "location": "New Mexico", "historical_context": "war"},
       "camera": {"shot": "wide", "angle": "low", "focal_point": "the tower", "composition": "thirds"},
       "image_style": "photo", "parent_id": null, "direction": null}, "characters": {"characters": [{"name":
       "Oppenheimer", "role": "director", "description": "thin", "clothing": "suit", "personality": "calm",
       "speaking_style": "dry", "emotional_state": "tense", "dialog_context": "the test", "historical_note": "",
       "speaks_in_scene": true}], "relationships": [{"from": "Oppenheimer", "to": "Groves", "kind": "colleague",
       "description": "uneasy"}]}, "scene": {"setting": "a desert", "atmosphere": "tense", "weather": "clear",
       "lighting": "dim", "sounds": ["wind"], "smells": [], "objects": []}, "dialog": [\(Self.line)],
       "grounding": {"verified_facts": ["It was dawn."], "assumptions": [], "confidence": 0.5},
       "moment": {"summary": "A test.", "before": "b", "after": "a", "stakes": "s", "tension": "t",
       "emotional_beats": ["fear"]}}
      """)
  }

  @Test func listedScenes() throws {
    try expectRoundTrip(
      TimepointPage<TimepointSummary>.self,
      """
      {"items": [{"id": "t", "query": "q", "slug": "s", "status": "pending", "year": null, "location": null,
       "has_image": false, "created_at": \(Self.time)}], "total": 1, "page": 1, "page_size": 20}
      """)
    try expectRoundTrip(
      TimepointCharacters.self,
      """
      {"timepoint_id": "t", "query": "q", "year": null, "location": null, "era": null, "total_characters": 1,
       "speaking_characters": 1, "characters": [{"name": "Neil", "role": "commander", "system_prompt": "He is calm.",
       "dialog_context": "the dust", "speaks_in_scene": true, "personality": "calm", "speaking_style": "brief",
       "emotional_state": "moved", "historical_note": ""}]}
      """)
    let entry = #"{"id": "t", "year": null, "slug": "s"}"#
    try expectRoundTrip(TemporalSequence.self, #"{"center": \#(entry), "prior": [\#(entry)], "next": []}"#)
    try expectRoundTrip(
      TemporalJump.self,
      """
      {"source_id": "a", "target_id": "b", "source_year": -44, "target_year": -43, "direction": "next", "units": 1,
       "unit": "year", "message": "You are 1 year later."}
      """)
  }

  @Test func makingAScene() throws {
    try expectRoundTrip(
      StartedTimepointAnswer.self,
      #"{"id": "t", "status": "processing", "message": "m", "request_context": null}"#)
    try expectRoundTrip(
      TimepointProgress.self,
      #"{"event": "step_complete", "step": "scene", "progress": 30, "data": {"latency_ms": 5}, "error": null}"#)
    try expectRoundTrip(
      TimepointProgress.self, #"{"event": "error", "progress": 0, "data": null, "error": "It has failed."}"#)
    let model = #"{"id": "rehearsal", "provider": "rehearsal", "name": "rehearsal", "makes": "text", "is_free": true}"#
    try expectRoundTrip(TimepointModels.self, #"{"models": [\#(model)], "total": 1, "is_rehearsal": true}"#)
    try expectRoundTrip(
      ModelProvidersAnswer.self,
      #"{"providers": {"google": {"configured": true, "answering": true}, "openrouter": {"configured": false}}}"#)
  }

  @Test func talks() throws {
    let reply = """
      {"character_name": "Neil", "response": "Fine dust.", "session_id": null, "emotional_tone": null, "latency_ms": 9}
      """
    try expectRoundTrip(CharacterReply.self, reply)
    try expectRoundTrip(
      InteractionEvent<CharacterReply>.self, #"{"event": "done", "data": \#(reply), "character_name": null}"#)
    try expectRoundTrip(
      InteractionEvent<String>.self, #"{"event": "token", "data": "Fine", "character_name": "Neil"}"#)
    try expectRoundTrip(
      CharacterDialog.self,
      #"{"dialog": [\#(Self.line)], "context": "c", "characters_involved": ["Oppenheimer"], "latency_ms": 9}"#)
    try expectRoundTrip(
      CharacterSurvey.self,
      """
      {"timepoint_id": "t", "questions": ["Why?"], "responses": [{"character_name": "Neil", "question": "Why?",
       "response": "So.", "sentiment": "mixed", "key_points": ["so"], "emotional_tone": "calm"}], "summary": null,
       "mode": "parallel", "total_characters": 1, "latency_ms": 9}
      """)
  }

  @Test func conversations() throws {
    try expectRoundTrip(
      ConversationsAnswer.self,
      """
      {"sessions": [{"id": "s", "character_name": "Neil", "message_count": 2, "last_message_preview": "Fine dust.",
       "created_at": \(Self.time), "updated_at": \(Self.time)}], "total": 1}
      """)
    try expectRoundTrip(
      Conversation.self,
      """
      {"id": "s", "timepoint_id": "t", "character_name": "Neil", "messages": [{"role": "user", "content": "Hi",
       "character_name": null, "timestamp": \(Self.time)}, {"role": "assistant", "content": "Fine dust.",
       "character_name": "Neil", "timestamp": \(Self.time)}], "created_at": \(Self.time), "updated_at": \(Self.time)}
      """)
  }
}
