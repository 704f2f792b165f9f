import CPostgres

/// The warnings of one connection that a commit is not replicated: PostgreSQL reports such a commit as successful.
final class ReplicationWarnings {
  private var hasWarning = false

  /// Receives the notices of a connection, which must not outlive this value. All others are ignored.
  func receive(from connection: OpaquePointer) {
    PQsetNoticeReceiver(
      connection,
      { context, result in
        guard let context, let function = PQresultErrorField(result, ReplicationWarnings.sourceFunction),
          String(cString: function) == "SyncRepWaitForLSN"
        else { return }
        Unmanaged<ReplicationWarnings>.fromOpaque(context).takeUnretainedValue().hasWarning = true
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func take() -> Bool {
    defer { hasWarning = false }
    return hasWarning
  }

  /// `PG_DIAG_SOURCE_FUNCTION`, a character macro of postgres_ext.h, which Swift does not import: the text of the warning
  /// depends on the language of the server.
  private static let sourceFunction: Int32 = 82  // R
}
