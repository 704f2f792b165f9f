import Auth
import Web

await runProgram("auth", schemas: [authSchema]) { try await buildAuth($0) }
