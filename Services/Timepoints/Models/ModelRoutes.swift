import Foundation
import Hummingbird
import Web
import Wire

/// What the configured providers can do.
struct ModelRoutes: Sendable {
  let catalog: ModelsCatalog
  let status: ProvidersStatus

  func add(to routes: Router<Context>) {
    let (all, free) = (ModelsBody(catalog.models, catalog), ModelsBody(catalog.free, catalog))
    routes.get("/api/v1/models") { _, _ in Response.json(all) }
    routes.get("/api/v1/models/free") { _, _ in Response.json(free) }
    routes.get("/api/v1/models/providers") { [status] _, _ in Response.json(ProvidersBody(providers: status.all)) }
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
    return .json(ModelsBody.Entry(model))
  }
}

private struct ModelsBody: Encodable, Sendable {
  struct Entry: Encodable, Sendable {
    let id: String
    let provider: String
    let name: String
    let makes: Model.Kind
    let is_free: Bool

    init(_ model: Model) {
      id = model.id
      provider = model.provider.rawValue
      name = model.name
      makes = model.makes
      is_free = model.isFree
    }
  }

  let models: [Entry]
  let total: Int
  /// Whether scenes are made up offline, as there is no key of a provider.
  let is_rehearsal: Bool

  init(_ models: [Model], _ catalog: ModelsCatalog) {
    self.models = models.map(Entry.init)
    total = models.count
    is_rehearsal = catalog.isRehearsal
  }
}

private struct ProvidersBody: Encodable {
  let providers: [String: ProvidersStatus.Provider]
}

extension ProvidersStatus {
  fileprivate var all: [String: Provider] {
    var all = ["google": self[.google], "openrouter": self[.openrouter]]
    if isRehearsal { all["rehearsal"] = self[.rehearsal] }
    return all
  }

  /// For `/health`, in one word each.
  var healthDetails: [String: JSONValue] {
    let providers = all.mapValues { provider in
      JSONValue.string(provider.configured ? (provider.answering == false ? "failing" : "ok") : "not_configured")
    }
    return ["providers": .object(providers)]
  }
}
