import Database
import EventFeed
import Web

package let timepointsSchema = ServiceSchema("timepoints", timepointsMigrations)

let timepointsMigrations = [EventFeed.migration, ProviderUsageStore.migration]
