import Invites
import Web

await runProgram("invites", schemas: [invitesSchema]) { try await buildInvites($0) }
