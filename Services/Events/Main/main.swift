import Events
import Web

await runProgram("events", schemas: [eventsSchema]) { try await buildEvents($0) }
