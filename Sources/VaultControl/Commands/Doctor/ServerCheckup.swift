import TokenVault
import VaultAdministration
import VaultStorage

/// The database server that keeps the vault, and the cost of losing it.
enum ServerCheckup {
    static func findings(_ vault: Vault) async -> [DoctorFinding] {
        do {
            guard let server = try await vault.server() else { return [] }
            return [finding(server)]
        } catch {
            let failure = Failure(error)
            return [.unseen(.server, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    private static func finding(_ server: (version: String, standby: EngineReport.Standby)) -> DoctorFinding {
        switch server.standby {
        case .synchronous:
            DoctorFinding(.ok, .server, about: server.version, "a synchronous standby has each commit")
        case .asynchronous:
            DoctorFinding(
                .warning, .server, about: server.version,
                "its standby is asynchronous: a failover can lose the last renewals, and hold all logins", hint: hint)
        case .none:
            DoctorFinding(
                .warning, .server, about: server.version,
                "it has no standby: what was stored since the last backup is lost with the server", hint: hint)
        }
    }

    private static let hint = "add a synchronous standby (synchronous_standby_names); see docs/postgresql.md"
}
