/// The last result of an asynchronous function, cached for a time that depends on it. Callers at the same time share one
/// call.
actor CachedValue<Value: Sendable> {
  private var cached: (value: Value, until: ContinuousClock.Instant)?
  private var inFlight: Task<(value: Value, lifetime: Duration), Never>?

  /// - Parameter make: called when there is no cached value; returns one, and for how long to cache it.
  func value(_ make: @escaping @Sendable () async -> (value: Value, lifetime: Duration)) async -> Value {
    if let cached, ContinuousClock.now < cached.until { return cached.value }
    if let inFlight { return await inFlight.value.value }
    let task = Task { await make() }
    inFlight = task
    let (value, lifetime) = await task.value
    inFlight = nil
    cached = (value, .now + lifetime)
    return value
  }
}
