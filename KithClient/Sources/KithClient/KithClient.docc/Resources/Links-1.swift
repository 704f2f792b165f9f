let links = DeepLinks(client: kith, file: supportFolder.appending(path: "links.json"), webHosts: ["kith.example.com"])

// .onOpenURL { url in … }
if case .redeemed(.group(let group)) = try await links.open(url, isOnboarding: isOnboarding) {
  show("You are in \(group.groupName).")
}

// After onboarding:
_ = try await links.redeemPending()
