import TokenVault
import VaultAdministration

/// What a process can be asked to do.
enum Jobs {
    static func perform(_ job: String, _ options: Options) async throws {
        switch job {
        case "callers": try await Callers(options).run()
        case "fill": try await Fleet.fill(options)
        case "settle": try await Fleet.settle(options)
        case "look": try await Fleet.look(options)
        case "read": try await Readings.longRead(options)
        case "verify": try await Readings.verify(options)
        case "backup": try await Readings.backup(options)
        case "observe": try await Observing.run(options)
        case "visit": try await Visit.run(options)
        case "worker": try await Worker.run(options)
        case "victim": try await Victim.run(options)
        default: throw Options.Missing(name: job)
        }
    }
}

/// A word for an error: the code of ours, the type of others.
func name(of error: any Error) -> String {
    if let error = error as? VaultError { return error.code.name }
    return String(describing: type(of: error))
}
