let contacts = ContactService(client: kith, addressBook: DeviceAddressBook(), callingCode: "1")
let sections = try await contacts.load()
show("Already here", sections.alreadyOn)
show("Invite", sections.toInvite)
