import Hummingbird
import NIOCore
import Web
import Wire

/// The QR code of an invite's page, which a camera opens.
extension InvitePageRoutes {
  @Sendable func svg(_ request: Request, _ context: Context) async throws -> Response {
    let code = try await qrCode(request, context)
    return Self.picture(ByteBuffer(string: code.svg), type: "image/svg+xml")
  }

  @Sendable func png(_ request: Request, _ context: Context) async throws -> Response {
    let code = try await qrCode(request, context)
    return Self.picture(ByteBuffer(bytes: code.png), type: "image/png")
  }

  /// - Throws: 404 for a code without a page, 429 after too many of those.
  private func qrCode(_ request: Request, _ context: Context) async throws -> QRCode {
    guard let found = try await target(ofCode: context.parameters.get("code") ?? "", from: request.clientAddress) else {
      throw Failure.inviteNotFound
    }
    return try QRCode(of: links.pageURL(ofCode: found.code))
  }

  /// A picture depends on the code alone. It may be cached for an hour, as a code may be revoked.
  private static func picture(_ body: ByteBuffer, type: String) -> Response {
    Response(
      status: .ok,
      headers: [
        .contentType: type, .contentLength: String(body.readableBytes), .cacheControl: "public, max-age=3600",
        .xContentTypeOptions: "nosniff",
      ], body: .init(byteBuffer: body))
  }
}
