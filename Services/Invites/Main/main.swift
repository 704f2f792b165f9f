import Invites
import Web

await serve("invites") { try await buildInvites($0) }
