import Foundation
import Web
import Yams

/// The YAML file of models and presets.
struct ModelsFile: Decodable, Sendable {
  struct Choice: Decodable, Sendable {
    let text: [String]
    let image: [String]
  }

  let models: [Model]
  let presets: [Preset: Choice]

  private enum CodingKeys: String, CodingKey { case models, presets }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    models = try members.decode([Model].self, forKey: .models)
    let choices = try members.decode([String: Choice].self, forKey: .presets)
    var presets: [Preset: Choice] = [:]
    for (name, choice) in choices {
      guard let preset = Preset(rawValue: name) else {
        throw DecodingError.dataCorruptedError(
          forKey: .presets, in: members, debugDescription: "\(name) is no preset")
      }
      presets[preset] = choice
    }
    self.presets = presets
  }
}

extension Settings {
  /// The models of the file `TIMEPOINT_MODELS`; the built-in ones without it.
  ///
  /// - Throws: ``StartFailure`` with what is wrong.
  func timepointModels() throws -> ModelsFile {
    guard let path = nonempty("TIMEPOINT_MODELS") else {
      return try ModelsFile(yaml: String(decoding: PackageResources.models_yaml, as: UTF8.self), path: "models.yaml")
    }
    // `try?`: said as a sentence for the operator.
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw StartFailure("TIMEPOINT_MODELS: \(path) cannot be read")
    }
    return try ModelsFile(yaml: text, path: path)
  }
}

extension ModelsFile {
  init(yaml: String, path: String) throws {
    do { self = try YAMLDecoder().decode(ModelsFile.self, from: yaml) } catch let error as DecodingError {
      throw StartFailure("TIMEPOINT_MODELS: \(path): \(error.place)")
    } catch { throw StartFailure("TIMEPOINT_MODELS: \(path) is not YAML: \(error)") }
    try check(path)
  }

  private func check(_ path: String) throws {
    func fail(_ mistake: String) -> StartFailure { StartFailure("TIMEPOINT_MODELS: \(path): \(mistake)") }
    var byID: [String: Model] = [:]
    for model in models {
      guard model.provider != .rehearsal else { throw fail("\(model.id) has a provider that is built in") }
      guard model.id.isModelName, model.name.isModelName else {
        throw fail("\(model.id) has a name that cannot be one")
      }
      // In a path.
      guard model.provider != .google || !model.name.contains("/") else { throw fail("\(model.id) has a slash") }
      guard byID.updateValue(model, forKey: model.id) == nil else { throw fail("\(model.id) is listed twice") }
    }
    for preset in Preset.allCases {
      guard let choice = presets[preset] else { throw fail("the preset \(preset.rawValue) is missing") }
      for (ids, kind) in [(choice.text, Model.Kind.text), (choice.image, .image)] {
        guard !ids.isEmpty else { throw fail("the preset \(preset.rawValue) has no model for \(kind.rawValue)") }
        for id in ids where byID[id]?.makes != kind {
          throw fail("the preset \(preset.rawValue) names \(id), which is no model for \(kind.rawValue)")
        }
      }
    }
  }
}

extension String {
  fileprivate var isModelName: Bool {
    (1...120).contains(utf8.count) && !contains("..")
      && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:/~".contains($0)) }
  }
}

extension DecodingError {
  /// The place and what is wrong there.
  fileprivate var place: String {
    let context: Context
    switch self {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found): context = found
    case .keyNotFound(let key, let found):
      return "\((found.codingPath + [key]).map(\.stringValue).joined(separator: ".")) is missing"
    @unknown default: return "is not valid"
    }
    return "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
  }
}
