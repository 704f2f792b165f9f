import ServiceLifecycle

extension ServiceGroupConfiguration.ServiceConfiguration {
  /// Named by its type. The library's own name is the text of all that the service holds, settings and keys included:
  /// it takes milliseconds to make, and logs must not show it.
  package init(
    ofType service: any Service, onSuccess: TerminationBehavior = .cancelGroup,
    onFailure: TerminationBehavior = .cancelGroup
  ) {
    self.init(
      service: service, successTerminationBehavior: onSuccess, failureTerminationBehavior: onFailure,
      serviceName: "\(type(of: service))")
  }
}
