import Web

await serve("kith") { try await buildKith($0) }
