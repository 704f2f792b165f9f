import Auth
import Credits
import Groups
import Invites
import Lists
import Web

await runProgram("kith", schemas: [authSchema, invitesSchema, groupsSchema, listsSchema, creditsSchema]) {
  try await buildKith($0)
}
