/// Who may do what in a list or by a link to it.
public enum ListRole: String, Sendable, Codable { case editor, viewer }
