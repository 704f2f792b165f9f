let sent = try await kith.photos.send(.file(heic), to: group) { share in
  Task { @MainActor in progress = share }
}
show("Everybody can see it until \(sent.expiresAt.formatted()).")
