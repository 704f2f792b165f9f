import Lists
import Web

await serve("lists") { try await buildLists($0) }
