/// What comes of an answer while it is made.
public enum StreamedAnswer<Piece: Sendable & Equatable, Whole: Sendable & Equatable>: Sendable, Equatable {
  /// The next words, line or answer.
  case piece(Piece)
  /// Everything, at the end. After a connection was lost, it may come without the last pieces.
  case whole(Whole)
}
