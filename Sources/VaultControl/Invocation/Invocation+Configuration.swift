extension Invocation {
    /// The invocation with the configuration file's settings, where neither the command line nor the environment gives
    /// one.
    ///
    /// - Parameter path: the file that the command line names.
    func configured(by path: String?) throws(Failure) -> Invocation {
        guard let file = try ConfigurationFile.find(named: path, console.environment) else { return self }
        var invocation = self
        invocation.configuration = file
        invocation.origins = file.origins(of: console.environment)
        invocation.console.environment = file.completing(console.environment)
        return invocation
    }
}
