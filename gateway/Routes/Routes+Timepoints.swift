import StrictHTTP
import Web

/// Scenes from history, and conversations with the people in them.
///
/// A token may be missing everywhere: public timepoints are for everybody, and the service decides, as sign-in can be
/// disabled in development.
extension Route {
  static let timepoints: [Route] = Array([generation, reading, interactions, timeTravel, models].joined())

  /// A scene takes up to two minutes.
  private static let sceneSeconds: Int64 = 150
  /// Streams have a comment every 15 seconds, so one that pauses for a minute is broken.
  private static let idleSeconds: Int64 = 60

  private static let generation: [Route] = [
    .init(.POST, "/api/v1/timepoints/generate", to: .timepoints, bearer: .optional, responseSeconds: 30),
    .init(
      .POST, "/api/v1/timepoints/generate/sync", to: .timepoints, bearer: .optional, responseSeconds: sceneSeconds),
    .init(
      .POST, "/api/v1/timepoints/generate/stream", to: .timepoints, bearer: .optional, responseSeconds: 30,
      idleSeconds: idleSeconds),
    .init(
      .GET, "/api/v1/timepoints/{timepoint}/events", to: .timepoints, bearer: .optional, idleSeconds: idleSeconds),
  ]

  private static let reading: [Route] = [
    .init(.GET, "/api/v1/timepoints", to: .timepoints, bearer: .optional),
    .init(.GET, "/api/v1/timepoints/{timepoint}", to: .timepoints, bearer: .optional),
    .init(.DELETE, "/api/v1/timepoints/{timepoint}", to: .timepoints, bearer: .optional),
    .init(.GET, "/api/v1/timepoints/slug/{slug}", to: .timepoints, bearer: .optional),
    .init(.GET, "/api/v1/timepoints/{timepoint}/characters", to: .timepoints, bearer: .optional),
    .init(.GET, "/api/v1/timepoints/{timepoint}/image", to: .timepoints, bearer: .optional, limit: .photo),
    .init(.PATCH, "/api/v1/timepoints/{timepoint}/visibility", to: .timepoints, bearer: .optional),
    .init(.POST, "/api/v1/timepoints/{timepoint}/export", to: .timepoints, bearer: .optional, responseSeconds: 30),
    .init(.GET, "/api/v1/users/me/timepoints", to: .timepoints, bearer: .optional),
  ]

  private static let interactions: [Route] =
    ["chat", "dialog", "survey"].flatMap { name in
      [
        Route(
          .POST, "/api/v1/interactions/{timepoint}/\(name)", to: .timepoints, bearer: .optional,
          responseSeconds: sceneSeconds),
        Route(
          .POST, "/api/v1/interactions/{timepoint}/\(name)/stream", to: .timepoints, bearer: .optional,
          responseSeconds: 30, idleSeconds: idleSeconds),
      ]
    } + [
      .init(.GET, "/api/v1/interactions/sessions/{timepoint}", to: .timepoints, bearer: .optional),
      .init(.GET, "/api/v1/interactions/session/{session}", to: .timepoints, bearer: .optional),
      .init(.DELETE, "/api/v1/interactions/session/{session}", to: .timepoints, bearer: .optional),
    ]

  private static let timeTravel: [Route] = [
    .init(
      .POST, "/api/v1/temporal/{timepoint}/next", to: .timepoints, bearer: .optional, responseSeconds: sceneSeconds),
    .init(
      .POST, "/api/v1/temporal/{timepoint}/prior", to: .timepoints, bearer: .optional, responseSeconds: sceneSeconds),
    .init(.GET, "/api/v1/temporal/{timepoint}/sequence", to: .timepoints, bearer: .optional),
  ]

  private static let models: [Route] = [
    .init(.GET, "/api/v1/models", to: .timepoints),
    .init(.GET, "/api/v1/models/free", to: .timepoints),
    .init(.GET, "/api/v1/models/providers", to: .timepoints),
    .init(.GET, "/api/v1/models/{model}", to: .timepoints),
    // The ids of models may have a slash.
    .init(.GET, "/api/v1/models/{maker}/{model}", to: .timepoints),
  ]
}
