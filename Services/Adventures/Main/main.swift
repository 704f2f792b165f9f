import Adventures
import Web

await runProgram("adventures", schemas: [adventuresSchema]) { try await buildAdventures($0) }
