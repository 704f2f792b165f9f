#if !canImport(FoundationNetworking)
  import Foundation

  /// Uploads that the system goes on with while the app is suspended.
  extension URLSessionTransport {
    /// For ``PhotoUploads``. Uploads of files go on while the app is suspended or was ended by the system.
    ///
    /// - Parameters:
    ///   - identifier: the app's own name of the session; the same at each start, and one transport for each.
    ///   - sharedContainer: of the app group, when an extension of the app uploads as well.
    public static func background(identifier: String, sharedContainer: String? = nil) -> URLSessionTransport {
      let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
      configuration.isDiscretionary = false
      configuration.sessionSendsLaunchEvents = true
      configuration.sharedContainerIdentifier = sharedContainer
      return URLSessionTransport(configuration: configuration)
    }

    /// To be called by `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// - Parameter completion: the system's; it is called on the main actor.
    @MainActor public func finishEvents(_ completion: @escaping () -> Void) {
      let action = MainActorAction(run: completion)
      exchanges.whenEventsAreFinished { Task { @MainActor in action.run() } }
    }

    /// The task of an earlier start of the app that sends the same request.
    func running(_ request: HTTPRequest) async -> URLSessionTask? {
      guard session.configuration.identifier != nil, let key = request.headers["Idempotency-Key"] else { return nil }
      return await session.allTasks.first {
        $0.state == .running && $0.originalRequest?.value(forHTTPHeaderField: "Idempotency-Key") == key
      }
    }
  }

  /// `@unchecked Sendable`: what comes from the main actor is only called there.
  private struct MainActorAction: @unchecked Sendable {
    let run: () -> Void
  }
#endif
