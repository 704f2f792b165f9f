import Postgres
import ServiceLifecycle
import Web

/// Receives the notifications of other processes on PostgreSQL: that a generation has new events, that a job is due.
struct GenerationNotifications: Service {
  let url: String
  let signals: GenerationSignals
  let worker: GenerationWorker

  func run() async throws {
    let listener = try NotificationListener(
      url: url, channels: [GenerationSignals.notifications],
      onConnect: {
        signals.sendToAll()
        worker.wakeUp()
      },
      onNotification: { _, payload in
        switch signals.notice(of: payload) {
        case .events(let timepoint, let isEnd): signals.send(timepoint, isEnd: isEnd)
        case .jobs: worker.wakeUp()
        case nil: break
        }
      })
    listener.start()
    // `try?`: it throws when this task is cancelled, which ends it as well.
    try? await gracefulShutdown()
    listener.stop()
  }
}
