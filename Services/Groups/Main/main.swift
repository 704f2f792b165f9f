import Groups
import Web

await serve("groups") { try await buildGroups($0) }
