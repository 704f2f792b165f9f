import Credits
import Web

await runProgram("credits", schemas: [creditsSchema]) { try await buildCredits($0) }
