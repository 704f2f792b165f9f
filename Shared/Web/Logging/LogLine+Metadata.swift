import Logging

extension LogLine {
  mutating func add(_ name: String, _ value: Logger.MetadataValue) {
    writeName(name)
    switch format {
    case .json: writeJSON(value)
    case .text: writePlain("\(value)")
    }
  }

  private mutating func writeJSON(_ value: Logger.MetadataValue) {
    switch value {
    case .string(let text): writeQuoted(text)
    case .stringConvertible(let number as any BinaryInteger): write(number.description)
    case .stringConvertible(let number as Double) where number.isFinite: write(number.description)
    case .stringConvertible(let flag as Bool): write(flag.description)
    case .stringConvertible(let other): writeQuoted(other.description)
    case .array(let values):
      write("[")
      for (index, value) in values.enumerated() {
        if index > 0 { write(",") }
        writeJSON(value)
      }
      write("]")
    case .dictionary(let members):
      write("{")
      for (index, member) in members.enumerated() {
        if index > 0 { write(",") }
        writeQuoted(member.key)
        write(":")
        writeJSON(member.value)
      }
      write("}")
    }
  }
}
