import Gateway
import Web

await serve("gateway") { try buildGateway($0) }
