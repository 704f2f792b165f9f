let sent = try await kith.photos.send(.file(heic), to: group) { share in
  Task { @MainActor in progress = share }
}
show("Everybody can see it until \(sent.expiresAt.formatted()).")

for photo in try await kith.photos.today(in: group) {
  show(photo.senderName, try await kith.photos.data(of: photo))
}
