import ServiceLifecycle
import Testing
import Web

@Suite struct ServiceConfigurationTests {
  private struct Keeper: Service {
    let key = "a secret of a service"

    func run() async throws {}
  }

  @Test func aServiceIsNamedByItsTypeAndNotByWhatItHolds() {
    let configuration = ServiceGroupConfiguration.ServiceConfiguration(ofType: Keeper())
    #expect(configuration.serviceName == "Keeper")
    #expect((configuration.service as? Keeper)?.key == "a secret of a service")
  }
}
