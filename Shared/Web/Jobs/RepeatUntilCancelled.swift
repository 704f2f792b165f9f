/// Runs `work` at once, and again each time that `interval` has passed since it ended, until the task is cancelled.
package func repeatUntilCancelled(every interval: Duration, _ work: () async -> Void) async {
  while !Task.isCancelled {
    await work()
    // `try?`: it throws only when cancelled, which the loop's condition checks.
    try? await Task.sleep(for: interval)
  }
}
