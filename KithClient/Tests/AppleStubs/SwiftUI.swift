@_exported import Foundation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { fatalError() } }

@resultBuilder public struct ViewBuilder {
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { fatalError() }
  public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { fatalError() }
}

public struct Either<First: View, Second: View>: View { public var body: Never { fatalError() } }
public struct ProgressView: View {
  public init() {}
  public var body: Never { fatalError() }
}
public struct Group<Content: View>: View {
  public init(@ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError() }
}
public struct Modified: View { public var body: Never { fatalError() } }
extension View {
  public func task(_ action: @escaping @Sendable @isolated(any) () async -> Void) -> Modified { fatalError() }
}

@MainActor @preconcurrency public protocol Scene {}
public struct WindowGroup<Content: View>: Scene { public init(@ViewBuilder content: () -> Content) {} }
@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  var body: Body { get }
  init()
}
extension App { public static func main() {} }

@propertyWrapper public struct State<Value> {
  public init(wrappedValue: Value) {}
  public init() where Value: ExpressibleByNilLiteral {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
}
