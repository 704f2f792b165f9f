import Foundation
import Web
import Yams

/// The YAML file of products. Each mistake is named with its line.
struct ProductsFile {
  let path: String

  /// - Throws: ``StartFailure`` with the path, the line and what is wrong there.
  func products() throws -> Products {
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw StartFailure("BILLING_PRODUCTS: \(path) cannot be read")
    }
    return try products(in: text)
  }

  func products(in text: String) throws -> Products {
    do {
      guard let root = try Yams.compose(yaml: text) else { throw ProductMistake("is empty", line: 1) }
      var reader = ProductReader()
      return try reader.products(root)
    } catch let mistake as ProductMistake {
      throw StartFailure("BILLING_PRODUCTS: \(path):\(mistake.line): \(mistake.description)")
    } catch let error as YamlError {
      throw StartFailure("BILLING_PRODUCTS: \(path) is not YAML: \(error)")
    }
  }
}

/// What is wrong in a line of the file.
struct ProductMistake: Error, CustomStringConvertible {
  let description: String
  let line: Int

  init(_ description: String, line: Int) {
    self.description = description
    self.line = line
  }

  init(_ description: String, at node: Node) {
    self.init(description, line: node.mark?.line ?? 1)
  }
}

extension Settings {
  /// The products of the file `BILLING_PRODUCTS`; none without it.
  ///
  /// - Throws: ``StartFailure`` with the line of a mistake.
  func products() throws -> Products {
    guard let path = nonempty("BILLING_PRODUCTS") else { return .none }
    return try ProductsFile(path: path).products()
  }
}
