import Database
import EventFeed
import Web

package let adventuresSchema = ServiceSchema("adventures", adventuresMigrations)

let adventuresMigrations = [EventFeed.migration]
