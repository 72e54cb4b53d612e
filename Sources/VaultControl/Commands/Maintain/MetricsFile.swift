import FoundationEssentials
import Glibc
import TokenVault
import VaultAdministration

/// A metrics file that `maintain` keeps up to date, in the text format of Prometheus. It is always replaced as a whole,
/// so that a collector never reads half of one.
final class MetricsFile: Sendable {
    private static let mark = "# Metrics of a TokenVault"
    private static let interval = Duration.seconds(15)
    /// Counting logins takes at most this fraction of the time.
    private static let surveyPause = 50.0

    let metrics = PrometheusMetrics()
    private let path: String

    /// Refuses the path of any other file: only a metrics file is ever replaced.
    init(_ path: String) throws(Failure) {
        self.path = path
        try Self.requireReplaceable(path)
        try write()
    }

    private static func requireReplaceable(_ path: String) throws(Failure) {
        let name = Printable.path(path)
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure(path, errno) }
            return
        }
        let other = Failure.usage(
            "\(name) is not a file of metrics", hint: "choose another --metrics-file; only its own file is replaced")
        guard status.st_mode & S_IFMT == S_IFREG else { throw other }
        guard status.st_size > 0 else { return }
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: mark.utf8.count)
        let count = unsafe start.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count == start.count, start.elementsEqual(mark.utf8) else { throw other }
    }

    /// Writes until it is cancelled. A failed write may succeed later.
    func keepWriting(of vault: Vault) -> Task<Void, Never> {
        Task {
            var nextSurvey = ContinuousClock.now
            while !Task.isCancelled {
                if ContinuousClock.now >= nextSurvey {
                    let began = ContinuousClock.now
                    await survey(vault)
                    let ended = ContinuousClock.now
                    nextSurvey = ended + max(.seconds(30), (ended - began) * Self.surveyPause)
                }
                try? write()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Writes the final figures.
    func write(of vault: Vault) async {
        await survey(vault)
        try? write()
    }

    private func survey(_ vault: Vault) async {
        guard let survey = try? await vault.survey() else { return }
        var gauges = survey.groups.flatMap(Self.gauges)
        gauges.append(("token_vault_logins_damaged", [], Double(survey.damaged)))
        metrics.replaceSurvey(gauges)
    }

    private static func gauges(
        _ group: VaultSurvey.Group
    ) -> [(label: String, dimensions: [(String, String)], value: Double)] {
        let provider = ("provider", group.provider ?? "app")
        let states = [
            ("established", group.established), ("expired", group.tokenExpired - group.dead), ("dead", group.dead),
            ("needsUser", group.needsUser), ("terminated", group.terminated), ("retrying", group.retrying),
            ("refused", group.refused), ("inDoubt", group.inDoubt), ("held", group.held + group.heldBySource),
            ("contested", group.contested),
        ]
        var gauges = states.map { state, count in
            ("token_vault_logins", [provider, ("state", state)], Double(max(0, count)))
        }
        gauges.append(
            ("token_vault_logins_without_token", [provider], Double(group.failingAndExpired + group.heldAndExpired)))
        let times = [
            ("token_vault_last_success_timestamp_seconds", group.lastSuccess),
            ("token_vault_last_refusal_timestamp_seconds", group.lastRefusal?.date),
        ]
        for (label, time) in times {
            if let time { gauges.append((label, [provider], time.timeIntervalSince1970.rounded())) }
        }
        return gauges
    }

    private func write() throws(Failure) {
        let text = Self.mark + ", written by vaultctl maintain\n" + metrics.text
        let temporary = "\(path).\(getpid()).new"
        // Left by a killed process with the same number.
        _ = unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { close(descriptor) }
        do throws(Failure) {
            try PrivateFile.write(Array(text.utf8), to: descriptor, temporary)
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, path) == 0 else {
            let reason = errno
            _ = unsafe unlink(temporary)
            throw Self.failure(path, reason)
        }
    }

    private static func failure(_ path: String, _ error: Int32) -> Failure {
        Failure(
            .machine, code: "outputFailed",
            "the metrics could not be written to \(Printable.path(path)): \(InputFile.reason(of: error))",
            hints: ["check --metrics-file: its directory must be there, and writable for this user"])
    }
}
