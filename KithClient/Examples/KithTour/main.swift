import Foundation
import KithClient

let arguments = Array(CommandLine.arguments.dropFirst())
guard [0, 1, 3].contains(arguments.count),
  let server = URL(string: arguments.first ?? "http://127.0.0.1:8080"), server.scheme != nil
else {
  print("usage: KithTour [URL of the server [NUMBER CODE]]")
  exit(2)
}
let phone = arguments.count == 3 ? (number: arguments[1], code: arguments[2]) : nil
do {
  print("A tour of the server at \(server)")
  try await Tour(server: server, phone: phone).walk()
  print("\nThat was all.")
} catch {
  print("\nThe tour has ended early: \(error)")
  exit(1)
}
