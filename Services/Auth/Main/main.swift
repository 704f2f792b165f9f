import Auth
import Web

await serve("auth") { try await buildAuth($0) }
