import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// A fake of the Generative Language API on loopback, with the answers, streams and errors of the real one.
package final class GeminiServer: Sendable {
  package static let key = "AIza-a-key-for-tests"

  package let calls = ModelCalls()
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }

  package var settings: [String: String] { ["GOOGLE_API_KEY": Self.key, "GOOGLE_BASE_URL": url] }

  package static let keyError = """
    {"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[\
    {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}
    """

  /// The body of a 429.
  package static func limited(after delay: String?, ofDay: Bool = false) -> String {
    let retry = delay.map {
      #",{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"\#($0)"}"#
    }
    let quota = ofDay ? "GenerateRequestsPerDayPerProject" : "GenerateRequestsPerMinutePerProject"
    return """
      {"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[\
      {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"\(quota)"}]}\(retry ?? "")]}}
      """
  }

  package static let overloaded = """
    {
      "error": {
        "code": 503,
        "message": "This model is currently experiencing high demand.",
        "status": "UNAVAILABLE"
      }
    }
    """

  private func answer(_ request: Request, _ target: String) async throws -> Response {
    let text = String(buffer: try await request.body.collect(upTo: 4 * 1024 * 1024))
    guard request.headers[HTTPField.Name("x-goog-api-key")!] == Self.key else {
      return ModelResponses.text(Self.keyError, status: 400)
    }
    let parts = target.split(separator: ":", maxSplits: 1).map(String.init)
    let body = try JSON.decode(JSONValue.self, from: Data(text.utf8))
    let configuration = body["generationConfig"]
    let isImage = configuration?["responseModalities"]?.strings.contains("IMAGE") ?? false
    let schema = configuration?["responseJsonSchema"]
    let call = ModelCalls.Call(
      step: isImage ? "image" : SceneAnswers.step(required: schema?["required"]?.strings ?? []), model: parts[0],
      isStream: parts[1].hasPrefix("stream"), text: text, body: body)
    var behavior = calls.record(call)
    if case .waits(let gate) = behavior {
      await gate.passed()
      behavior = nil
    }
    if let mistake = Self.mistake(in: body) { return ModelResponses.text(mistake, status: 400) }
    return try await response(to: call, behavior)
  }

  /// What the real one refuses.
  private static func mistake(in body: JSONValue) -> String? {
    let contents = body["contents"]?.list ?? []
    let known: Set = ["contents", "systemInstruction", "generationConfig"]
    let isRight =
      !contents.isEmpty && contents.allSatisfy { ["user", "model"].contains($0["role"]?.text ?? "") }
      && contents.last?["role"]?.text == "user" && Set(body.members.keys).isSubset(of: known)
      && (body["generationConfig"]?["responseJsonSchema"] == nil
        || body["generationConfig"]?["responseMimeType"]?.text == "application/json")
    return isRight
      ? nil : #"{"error":{"code":400,"message":"Invalid JSON payload received.","status":"INVALID_ARGUMENT"}}"#
  }

  private func response(to call: ModelCalls.Call, _ behavior: ModelCalls.Behavior?) async throws -> Response {
    switch behavior {
    case .answers(let status, let body, let headers):
      return ModelResponses.text(body, status: status, headers: headers)
    case .hangs: return await ModelResponses.never()
    case .breaksOff:
      return call.isStream ? ModelResponses.stream([Self.half], breaksOff: true) : ModelResponses.broken()
    case .streams(let pieces): return ModelResponses.stream(pieces.map { Array($0.utf8) })
    case .refuses:
      let refusal: JSONValue = [
        "promptFeedback": ["blockReason": "PROHIBITED_CONTENT"], "modelVersion": .string(call.model),
      ]
      return try call.isStream ? Self.events([refusal]) : ModelResponses.json(refusal)
    case .paintsNothing:
      return try ModelResponses.json(["candidates": [["content": [:], "finishReason": "NO_IMAGE", "index": 0]]])
    case .paints(let bytes): return try ModelResponses.json(Self.picture(bytes, call.model))
    case .writes(let text): return try ModelResponses.json(Self.complete(text, call.model))
    case .isCutOff(let text): return try ModelResponses.json(Self.complete(text, call.model, "MAX_TOKENS"))
    case .leaks:
      let instructions = call.body["systemInstruction"]?["parts"]?.list.first?["text"]?.text ?? ""
      let text = try SceneAnswers.answer(to: call.step, leaking: instructions)
      return try call.isStream
        ? Self.events([Self.complete(text, call.model)]) : ModelResponses.json(Self.complete(text, call.model))
    case .waits, nil: break
    }
    if call.step == "image" { return try ModelResponses.json(Self.picture(tinyJPEG, call.model)) }
    guard call.isStream else {
      let text = String(decoding: try SceneAnswers.answer(to: call.step).data, as: UTF8.self)
      return try ModelResponses.json(Self.complete(text, call.model))
    }
    return try Self.events([
      Self.complete("Je l’ai vu", call.model, nil), Self.complete(" — moi-même.", call.model, nil),
      Self.complete(" 🔥 The gate is open.", call.model, nil), Self.complete("", call.model),
    ])
  }

  private static let half =
    Array(#"data: {"candidates":[{"content":{"parts":[{"text":"Je l"}]}}]}"#.utf8) + [13, 10, 13, 10]

  private static func events(_ values: [JSONValue]) throws -> Response {
    let text = try values.map { "data: \(String(decoding: try $0.data, as: UTF8.self))\r\n\r\n" }.joined()
    return ModelResponses.stream(ModelResponses.cut(text))
  }

  /// An answer with a thought before the text.
  private static func complete(_ text: String, _ model: String, _ finishReason: String? = "STOP") -> JSONValue {
    var candidate: [String: JSONValue] = [
      "content": [
        "role": "model", "parts": [["text": "Let me think.", "thought": true], ["text": .string(text)]],
      ],
      "index": 0,
    ]
    if let finishReason { candidate["finishReason"] = .string(finishReason) }
    return [
      "candidates": [.object(candidate)], "modelVersion": .string("\(model)-001"), "responseId": "r",
      "usageMetadata": [
        "promptTokenCount": 70, "candidatesTokenCount": 20, "thoughtsTokenCount": 10, "totalTokenCount": 100,
      ],
    ]
  }

  /// A picture that is declared as PNG, after a text.
  private static func picture(_ bytes: Data, _ model: String) -> JSONValue {
    let image: JSONValue = ["inlineData": ["mimeType": "image/png", "data": .string(bytes.base64EncodedString())]]
    return [
      "candidates": [
        ["content": ["role": "model", "parts": [["text": "Here it is."], image]], "finishReason": "STOP", "index": 0]
      ],
      "modelVersion": .string(model), "usageMetadata": ["totalTokenCount": 1200],
    ]
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/v1beta/models/:target") { [self] request, context -> Response in
      try await answer(request, context.parameters.get("target") ?? "")
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

extension JSONValue {
  var members: [String: JSONValue] {
    guard case .object(let members) = self else { return [:] }
    return members
  }
}

package func withGemini<T>(_ body: (GeminiServer) async throws -> T) async throws -> T {
  let gemini = GeminiServer()
  return try await running([gemini.server()]) {
    try await gemini.ready()
    return try await body(gemini)
  }
}
