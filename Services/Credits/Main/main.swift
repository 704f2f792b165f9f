import Credits
import Web

await serve("credits") { try await buildCredits($0) }
