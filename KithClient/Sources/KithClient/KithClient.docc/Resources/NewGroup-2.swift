let contacts = ContactService(client: kith, addressBook: DeviceAddressBook(), callingCode: "1")
let sections = try await contacts.load()
show("Already here", sections.alreadyOn)
show("Invite", sections.toInvite)

// When a row is tapped; a twelfth cannot be chosen.
let isChosen = await contacts.toggle(contact.id)

// When the user is done:
let group = try await kith.groups.create(name: "The Mountain Cabin")
let sent = try await contacts.inviteChosen(to: group)
show("\(sent.addedMembers) were added, \(sent.sentInvites.count) invited")
