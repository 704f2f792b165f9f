import StrictHTTP
import Web

/// Scenes from history, and conversations with the people in them.
extension Route {
  static let timepoints: [Route] = Array([generation, interactions].joined())

  private static let generation: [Route] = [
    .init(.POST, "/api/v1/timepoints/generate", to: .timepoints, bearer: .required),
    // Generating takes up to two minutes.
    .init(.POST, "/api/v1/timepoints/generate/sync", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(
      .POST, "/api/v1/timepoints/generate/stream", to: .timepoints, bearer: .required, responseSeconds: 30,
      idleSeconds: 150),
    // Public timepoints need no token.
    .init(.GET, "/api/v1/timepoints", to: .timepoints, bearer: .optional),
    .init(.GET, "/api/v1/timepoints/{timepoint}", to: .timepoints, bearer: .optional),
    .init(.PATCH, "/api/v1/timepoints/{timepoint}/visibility", to: .timepoints, bearer: .required),
    .init(.GET, "/api/v1/users/me/timepoints", to: .timepoints, bearer: .required),
  ]

  private static let interactions: [Route] = [
    .init(.POST, "/api/v1/interactions/{timepoint}/chat", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/interactions/{timepoint}/dialog", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/interactions/{timepoint}/survey", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/temporal/{timepoint}/next", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.POST, "/api/v1/temporal/{timepoint}/prior", to: .timepoints, bearer: .required, responseSeconds: 150),
    .init(.GET, "/api/v1/temporal/{timepoint}/sequence", to: .timepoints, bearer: .required),
  ]
}
