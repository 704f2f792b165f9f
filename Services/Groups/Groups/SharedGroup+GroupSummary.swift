import ClientBodies
import Wire

/// A group in responses to its members.
extension SharedGroup {
  init(_ summary: GroupSummary, names: [UserID: String]) {
    let group = summary.group
    self.init(
      id: group.id.description, name: group.name, description: group.description, timeZone: group.timeZone.name,
      inviteCode: group.inviteCode, createdAt: group.createdAt, role: summary.role.rawValue,
      memberCount: group.memberCount,
      members: summary.members.map {
        Member(id: $0.user.description, firstName: names[$0.user] ?? "", role: $0.role.rawValue)
      },
      hasSentToday: summary.hasSentToday,
      lastPhoto: summary.lastPhoto.map {
        LastPhoto(
          createdAt: $0.createdAt, timestamp: $0.createdAt, senderID: $0.sender.description,
          senderName: names[$0.sender] ?? "")
      })
  }
}
