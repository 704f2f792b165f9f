import Database
import Web

package let eventsSchema = ServiceSchema("events", eventsMigrations)

let eventsMigrations: [Migration] = []
