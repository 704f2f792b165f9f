import Auth
import Credits
import Events
import Groups
import Invites
import Lists
import Web

await runProgram("kith", schemas: [authSchema, invitesSchema, groupsSchema, listsSchema, creditsSchema, eventsSchema]) {
  try await buildKith($0)
}
