import Gateway
import Web

await runProgram("gateway") { try buildGateway($0) }
