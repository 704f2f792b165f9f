/// How far a plan or a hunt is.
public enum AdventureStatus: String, Sendable, Codable { case draft, active, completed, cancelled }
