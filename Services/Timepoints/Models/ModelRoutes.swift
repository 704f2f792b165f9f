import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// What the configured providers can do.
struct ModelRoutes: Sendable {
  let catalog: ModelsCatalog
  let status: ProvidersStatus

  func add(to routes: HTTPRoutes) {
    let (all, free) = (TimepointModels(catalog.models, catalog), TimepointModels(catalog.free, catalog))
    routes.get("/api/v1/models") { _, _ in Response.json(all) }
    routes.get("/api/v1/models/free") { _, _ in Response.json(free) }
    routes.get("/api/v1/models/providers") { [status] _, _ in
      Response.json(ModelProvidersAnswer(providers: status.all))
    }
    routes.get("/api/v1/models/{id}") { _, context in
      try show(context.parameters.get("id"))
    }
    // The ids of models may have a slash.
    routes.get("/api/v1/models/{id}/{name}") { _, context in
      try show("\(context.parameters.get("id") ?? "")/\(context.parameters.get("name") ?? "")")
    }
  }

  /// - Parameter id: as in the path, percent-encoded or not.
  private func show(_ id: String?) throws -> Response {
    guard let model = id?.removingPercentEncoding.flatMap({ catalog.model($0) }) else {
      throw Failure(.notFound, "model_not_found", "There is no such model here.")
    }
    return .json(TimepointModel(model))
  }
}

extension TimepointModels {
  fileprivate init(_ models: [Model], _ catalog: ModelsCatalog) {
    self.init(models: models.map { TimepointModel($0) }, total: models.count, isRehearsal: catalog.isRehearsal)
  }
}

extension TimepointModel {
  fileprivate init(_ model: Model) {
    self.init(
      id: model.id, provider: model.provider.rawValue, name: model.name, makes: model.makes.rawValue,
      isFree: model.isFree)
  }
}

extension ProvidersStatus {
  fileprivate var all: [String: TimepointModelProvider] {
    var all = ["google": self[.google], "openrouter": self[.openrouter]]
    if isRehearsal { all["rehearsal"] = self[.rehearsal] }
    return all
  }

  /// For `/health`, in one word each.
  var healthDetails: [String: Wire.JSONValue] {
    let providers = all.mapValues { provider in
      Wire.JSONValue.string(provider.configured ? (provider.answering == false ? "failing" : "ok") : "not_configured")
    }
    return ["providers": .object(providers)]
  }
}
