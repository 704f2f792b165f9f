import KithClient
import SwiftUI

// The views of the app in the articles.

struct HomeView: View {
  let kith: KithClient
  var body: Never { fatalError() }
}
struct SignInView: View {
  let kith: KithClient
  var body: Never { fatalError() }
}
