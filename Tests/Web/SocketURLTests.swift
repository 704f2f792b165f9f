import Testing

@testable import Web

/// The addresses of Unix sockets in settings.
@Suite struct SocketURLTests {
  @Test(arguments: [
    ("unix:/run/kith/auth.sock", "http+unix://%2Frun%2Fkith%2Fauth.sock", "/run/kith/auth.sock"),
    ("unix:///run/kith/auth.sock", "http+unix://%2Frun%2Fkith%2Fauth.sock", "/run/kith/auth.sock"),
    ("unix:/a folder/ä%2F?#.sock", "http+unix://%2Fa%20folder%2F%C3%A4%252F%3F%23.sock", "/a folder/ä%2F?#.sock"),
  ])
  func theyHaveAPath(setting: String, base: String, path: String) {
    #expect(SocketURL.base(setting) == base)
    #expect(SocketURL.path(in: base) == path && SocketURL.path(in: base + "/internal/a%2Fb?c=d") == path)
  }

  @Test(arguments: ["unix:", "unix:auth.sock", "unix://auth", "http://auth:8080", "/run/kith/auth.sock", ""])
  func othersHaveNone(text: String) {
    #expect(SocketURL.base(text) == nil && SocketURL.path(in: text) == nil)
  }

  @Test func aServiceIsReachedByItsSocketUnlessItHasAURL() {
    let addresses = ServiceAddresses(
      Settings([
        "SOCKET_DIR": "/run/kith", "CREDITS_URL": "http://credits:8080/, unix:/run/other/credits.sock", "LISTS_URL": "",
      ]))
    #expect(addresses.urls(of: .auth) == ["http+unix://%2Frun%2Fkith%2Fauth.sock"])
    #expect(addresses.urls(of: .credits) == ["http://credits:8080", "http+unix://%2Frun%2Fother%2Fcredits.sock"])
    #expect(addresses.urls(of: .lists) == [])
    for unset in [["SOCKET_DIR": ""], [:]] {
      #expect(ServiceAddresses(Settings(unset)).urls(of: .auth) == ["http://127.0.0.1:8081"])
    }
    #expect(ServiceAddresses(Settings(["SOCKET_DIR": "/run/kith/"])).urls(of: .auth) == addresses.urls(of: .auth))
  }
}
