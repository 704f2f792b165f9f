import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// A fake of OpenRouter's API on loopback, with the answers, streams and errors of the real one.
package final class OpenRouterServer: Sendable {
  package static let key = "sk-or-v1-a-key-for-tests"

  package let calls = ModelCalls()
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }

  package var settings: [String: String] {
    ["OPENROUTER_API_KEY": Self.key, "OPENROUTER_BASE_URL": "\(url)/api/v1"]
  }

  package static func error(_ status: Int, type: String? = nil, metadata: String = "") -> String {
    let kind = type.map { #""error_type":"\#($0)""# } ?? ""
    return #"{"error":{"code":\#(status),"message":"Provider returned error","metadata":{\#(kind)\#(metadata)}}}"#
  }

  private func answer(_ request: Request, isImage: Bool) async throws -> Response {
    let text = String(buffer: try await request.body.collect(upTo: 4 * 1024 * 1024))
    guard request.headers[.authorization] == "Bearer \(Self.key)" else {
      return ModelResponses.text(Self.error(401, type: "authentication"), status: 401)
    }
    let body = try JSON.decode(JSONValue.self, from: Data(text.utf8))
    let format = body["response_format"]?["json_schema"]
    let step = isImage ? "image" : SceneAnswers.step(required: format?["schema"]?["required"]?.strings ?? [])
    let call = ModelCalls.Call(
      step: step, model: body["model"]?.text ?? "", isStream: body["stream"] == true, text: text, body: body)
    var behavior = calls.record(call)
    if case .waits(let gate) = behavior {
      await gate.passed()
      behavior = nil
    }
    if !isImage, !Self.isRight(body, format) {
      return ModelResponses.text(Self.error(400, type: "invalid_request"), status: 400)
    }
    return try await response(to: call, behavior)
  }

  /// Whether the real one takes it: strict schemas have every property in `required`.
  private static func isRight(_ body: JSONValue, _ format: JSONValue?) -> Bool {
    let messages = body["messages"]?.list ?? []
    guard messages.first?["role"]?.text == "system", messages.last?["role"]?.text == "user" else { return false }
    guard let format else { return true }
    return format["strict"] == true && isStrict(format["schema"] ?? .null)
      && body["provider"]?["require_parameters"] == true
  }

  private static func isStrict(_ schema: JSONValue) -> Bool {
    guard let properties = schema["properties"] else { return schema["items"].map(isStrict) ?? true }
    return schema["additionalProperties"] == false
      && Set(properties.members.keys) == Set(schema["required"]?.strings ?? [])
      && properties.members.values.allSatisfy(isStrict)
  }

  private func response(to call: ModelCalls.Call, _ behavior: ModelCalls.Behavior?) async throws -> Response {
    switch behavior {
    case .answers(let status, let body, let headers):
      return ModelResponses.text(body, status: status, headers: headers)
    case .hangs: return await ModelResponses.never()
    case .breaksOff:
      let half = #"data: {"choices":[{"index":0,"delta":{"content":"Je l"},"finish_reason":null}]}"# + "\n\n"
      return call.isStream ? ModelResponses.stream([Array(half.utf8)], breaksOff: true) : ModelResponses.broken()
    case .streams(let pieces): return ModelResponses.stream(pieces.map { Array($0.utf8) })
    case .refuses: return try ModelResponses.json(Self.complete("", call.model, "content_filter"))
    case .paintsNothing: return try ModelResponses.json(["created": 1, "data": []])
    case .paints(let bytes): return try ModelResponses.json(Self.picture(bytes))
    case .writes(let text): return try ModelResponses.json(Self.complete(text, call.model))
    case .isCutOff(let text): return try ModelResponses.json(Self.complete(text, call.model, "length"))
    case .leaks:
      let instructions = call.body["messages"]?.list.first?["content"]?.text ?? ""
      return try ModelResponses.json(
        Self.complete(try SceneAnswers.answer(to: call.step, leaking: instructions), call.model))
    case .waits, nil: break
    }
    if call.step == "image" { return try ModelResponses.json(Self.picture(tinyJPEG)) }
    guard call.isStream else {
      let text = String(decoding: try SceneAnswers.answer(to: call.step).data, as: UTF8.self)
      return try ModelResponses.json(Self.complete("```json\n\(text)\n```", call.model))
    }
    let pieces = ["Je l’ai vu", " — moi-même.", " 🔥 The gate is open."].map { Self.piece($0, call.model) }
    let usage: JSONValue = [
      "model": .string(call.model), "usage": ["total_tokens": 100, "cost": .number(0.00004)],
      "choices": [["index": 0, "delta": ["content": ""], "finish_reason": .null]],
    ]
    let texts = try (pieces + [Self.piece("", call.model, "stop"), usage])
      .map { "data: \(String(decoding: try $0.data, as: UTF8.self))\n\n" }
    let stream = ": OPENROUTER PROCESSING\n\n" + texts.joined(separator: ": OPENROUTER PROCESSING\n\n")
    return ModelResponses.stream(ModelResponses.cut(stream + "data: [DONE]\n\n"))
  }

  private static func piece(_ text: String, _ model: String, _ finishReason: String? = nil) -> JSONValue {
    [
      "id": "gen-1", "object": "chat.completion.chunk", "model": .string(model),
      "choices": [
        ["index": 0, "delta": ["content": .string(text)], "finish_reason": finishReason.map(JSONValue.string) ?? .null]
      ],
    ]
  }

  private static func complete(_ text: String, _ model: String, _ finishReason: String = "stop") -> JSONValue {
    [
      "id": "gen-1", "object": "chat.completion", "model": .string(model), "provider": "Acme",
      "choices": [
        [
          "index": 0, "finish_reason": .string(finishReason), "native_finish_reason": "STOP",
          "message": ["role": "assistant", "content": .string(text), "refusal": .null],
        ]
      ],
      "usage": ["prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100, "cost": .number(0.00004)],
    ]
  }

  private static func picture(_ bytes: Data) -> JSONValue {
    [
      "created": 1_700_000_000, "data": [["b64_json": .string(bytes.base64EncodedString())]],
      "usage": ["total_tokens": 1200, "cost": .number(0.04)],
    ]
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/api/v1/chat/completions") { [self] request, _ -> Response in
      try await answer(request, isImage: false)
    }
    router.post("/api/v1/images") { [self] request, _ -> Response in try await answer(request, isImage: true) }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

package func withOpenRouter<T>(_ body: (OpenRouterServer) async throws -> T) async throws -> T {
  let openRouter = OpenRouterServer()
  return try await running([openRouter.server()]) {
    try await openRouter.ready()
    return try await body(openRouter)
  }
}
