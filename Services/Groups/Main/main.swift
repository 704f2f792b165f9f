import Groups
import Web

await runProgram("groups", schemas: [groupsSchema]) { try await buildGroups($0) }
