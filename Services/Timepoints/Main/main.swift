import Timepoints
import Web

await runProgram("timepoints", schemas: [timepointsSchema]) { try await buildTimepoints($0) }
