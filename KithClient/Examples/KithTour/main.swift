import Foundation
import KithClient

print("A tour of Kith")
