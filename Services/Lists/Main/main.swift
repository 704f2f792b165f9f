import Lists
import Web

await runProgram("lists", schemas: [listsSchema]) { try await buildLists($0) }
