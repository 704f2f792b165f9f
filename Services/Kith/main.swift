import Adventures
import Auth
import Credits
import Events
import Foundation
import Groups
import Invites
import Lists
import Timepoints
import Web

let schemas = [
  authSchema, invitesSchema, groupsSchema, listsSchema, creditsSchema, eventsSchema, adventuresSchema, timepointsSchema,
]

await runProgram(
  "kith", schemas: schemas,
  commands: [
    ProgramCommand("backup", ["FILE"], "copy all data into FILE, also while kith runs (SQLite)") {
      settings, arguments in
      print(try Backup(settings).write(to: arguments[0], at: Date()).summary(of: arguments[0]))
    },
    ProgramCommand("restore", ["FILE"], "put the data of a backup where there is none yet") { settings, arguments in
      print(try Restore(settings).read(from: arguments[0]).summary(of: arguments[0]))
    },
    ProgramCommand("doctor", [], "say what is misconfigured, and what to do about it") { settings, _ in
      try await Doctor(settings: settings, now: { Date() }).run()
    },
  ]
) { try await buildKith($0) }
