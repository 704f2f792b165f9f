/// The steps that make a scene, in the order in which they are reported. The raw values are those of the event stream.
enum PipelineStep: String, CaseIterable, Codable, Sendable, CodingKeyRepresentable {
  case judge, timeline, scene, characters, graph, moment, camera, dialog, grounding
  case imagePrompt = "image_prompt"
  case imageGeneration = "image_generation"

  /// The steps whose results a step reads. Steps that do not depend on each other run together.
  var dependencies: [PipelineStep] {
    switch self {
    case .judge: []
    case .timeline: [.judge]
    case .scene: [.timeline]
    case .characters: [.timeline, .scene]
    case .graph: [.characters]
    case .moment: [.timeline, .scene, .characters]
    case .camera: [.scene, .characters]
    case .dialog: [.timeline, .scene, .characters, .graph, .moment]
    case .grounding: [.timeline, .scene, .characters, .moment]
    case .imagePrompt: [.timeline, .scene, .characters, .moment, .camera]
    case .imageGeneration: [.imagePrompt]
    }
  }

  /// The percentage in the event stream when the step is done; nil for a step that the stream does not have.
  var progress: Int? {
    switch self {
    case .judge: 10
    case .timeline: 20
    case .scene: 30
    case .characters, .graph: 50
    case .moment, .camera: 65
    case .dialog: 80
    case .grounding: nil
    case .imagePrompt: 90
    case .imageGeneration: 100
    }
  }
}
