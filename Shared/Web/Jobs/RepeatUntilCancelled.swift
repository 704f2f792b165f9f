/// Runs `work` at once, and again each time that `interval` has passed since it ended, until the task is cancelled.
package func repeatUntilCancelled(every interval: Duration, _ work: () async -> Void) async {
  while !Task.isCancelled {
    await work()
    // `try?`: it throws only when cancelled, which the loop's condition checks.
    try? await Task.sleep(for: interval)
  }
}

/// Runs `work` at once, and again five seconds after it ended if there has been a change or there is more to do, else
/// after `interval` or with the next change, until the task is cancelled.
///
/// - Parameter work: returns whether there is more to do.
package func repeatAfterChanges(
  _ changes: ChangeSignal, atMost interval: Duration, _ work: () async -> Bool
) async {
  let pause = min(.seconds(5), interval)
  while !Task.isCancelled {
    let version = changes.version
    let hasMore = await work()
    // `try?`: it throws only when cancelled, which the loop's condition checks.
    try? await Task.sleep(for: pause)
    if !hasMore { await changes.wait(after: version, atMost: interval - pause) }
  }
}
