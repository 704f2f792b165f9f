import Foundation
import Tokens
import Wire

/// What Apple refuses before it looks for the device ("Handling notification responses from APNs").
extension APNsServer {
  private static let onceOnly = [
    "apns-id", "apns-topic", "apns-priority", "apns-expiration", "apns-push-type", "apns-collapse-id",
  ]

  func refusal(of request: APNsRequest) -> Answer? {
    func bad(_ reason: String, _ status: Int = 400) -> Answer { Answer(status: status, reason: reason) }
    guard request.first(":method") == "POST" else { return bad("MethodNotAllowed", 405) }
    guard request.path.hasPrefix("/3/device/") else { return bad("BadPath", 404) }
    guard !request.deviceToken.isEmpty else { return bad("MissingDeviceToken") }
    guard Self.onceOnly.allSatisfy({ request.all($0).count <= 1 }) else { return bad("DuplicateHeaders") }
    if let refusal = refusalOfToken(request.first("authorization")) { return refusal }
    guard let topic = request.first("apns-topic") else { return bad("MissingTopic") }
    guard topic == Self.topic else { return bad("BadTopic") }
    let type = request.first("apns-push-type") ?? "alert"
    guard ["alert", "background"].contains(type) else { return bad("InvalidPushType") }
    let priority = request.first("apns-priority") ?? "10"
    guard ["1", "5", "10"].contains(priority), type == "alert" || priority == "5" else { return bad("BadPriority") }
    guard Int(request.first("apns-expiration") ?? "0") != nil else { return bad("BadExpirationDate") }
    guard (request.first("apns-collapse-id") ?? "").utf8.count <= 64 else { return bad("BadCollapseId") }
    if let id = request.first("apns-id"), id != UUID(uuidString: id)?.uuidString.lowercased() {
      return bad("BadMessageId")
    }
    guard !request.body.isEmpty else { return bad("PayloadEmpty") }
    guard request.body.count <= 4096 else { return bad("PayloadTooLarge", 413) }
    guard isPayload(request.body, of: type) else { return bad("InvalidPushType") }
    let token = request.deviceToken
    guard token.count == 64, token.allSatisfy({ $0.isHexDigit && !$0.isUppercase }) else {
      return bad("BadDeviceToken")
    }
    return nil
  }

  /// An alert shows something; a background notification nothing.
  private func isPayload(_ body: Data, of type: String) -> Bool {
    // `try?`: what is no JSON is no payload.
    guard let aps = (try? JSON.decode(JSONValue.self, from: body))?["aps"] else { return false }
    let isShown = ["alert", "badge", "sound"].contains { aps[$0] != nil }
    return type == "alert" ? isShown : !isShown && aps["content-available"] == .integer(1)
  }

  private struct Claims: Decodable {
    let iss: String
    let iat: Int
  }

  private func refusalOfToken(_ authorization: String?) -> Answer? {
    guard let authorization, authorization.hasPrefix("bearer ") else {
      return Answer(status: 403, reason: "MissingProviderToken")
    }
    guard let token = try? SignedToken(String(authorization.dropFirst("bearer ".count))), token.keyID == Self.keyID,
      let claims = try? token.claims(Claims.self, signedBy: .es256(publicKey)), claims.iss == Self.team
    else { return Answer(status: 403, reason: "InvalidProviderToken") }
    let seconds = Int((clock?.now ?? Date()).timeIntervalSince1970)
    guard seconds - claims.iat <= 3600, claims.iat <= seconds + 60 else {
      return Answer(status: 403, reason: "ExpiredProviderToken")
    }
    return isTooEarly(claims.iat) ? Answer(status: 429, reason: "TooManyProviderTokenUpdates") : nil
  }
}
