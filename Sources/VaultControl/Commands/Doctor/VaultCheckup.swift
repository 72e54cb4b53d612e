import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultCrypto
import VaultStorage

/// Checks an open vault. A read error is reported, and does not hide the rest.
struct VaultCheckup {
    let vault: Vault
    let invocation: Invocation

    /// In reporting order. Slow checks come late.
    var parts: [() async -> [DoctorFinding]] {
        [
            diagnosis, writing, trail, mixUp, outbox, { await LoginCheckup.findings(vault, invocation) },
            { await BackupCheckup.findings(vault, now: invocation.now) },
        ]
    }

    private func diagnosis() async -> [DoctorFinding] {
        await DoctorFinding.findings(of: .lockedMemory, .ownership, .renewal, .spool) {
            let diagnosis = try await vault.diagnosis()
            return await Self.memory(diagnosis.status.lockedMemory) + ownership(diagnosis)
                + RenewalCheckup.findings(diagnosis, vault, now: invocation.now)
                + Self.spool(diagnosis.spool)
        }
    }

    /// Whether renewals can be stored now: disk space, permissions, and no other process that keeps the write lock.
    private func writing() async -> [DoctorFinding] {
        // The owner lock reports the reason.
        guard vault.readOnlyReason == nil else { return [] }
        do {
            try await vault.checkWriting()
            return [DoctorFinding(.ok, .writing, "the vault can be written, and there is room")]
        } catch {
            let failure = Failure(error)
            return [DoctorFinding(.problem, .writing, failure.message, hint: failure.hints.first)]
        }
    }

    static func memory(_ state: LockedMemoryState) -> [DoctorFinding] {
        switch state {
        case .full: [DoctorFinding(.ok, .lockedMemory, "all keys are kept out of swap")]
        case .partial, .none:
            [
                DoctorFinding(
                    .warning, .lockedMemory,
                    state == .partial ? "some keys may be written to swap" : "keys may be written to swap",
                    hint: "raise the limit on locked memory: ulimit -l, or LimitMEMLOCK= in the service's unit")
            ]
        }
    }

    private func ownership(_ diagnosis: VaultDiagnosis) -> [DoctorFinding] {
        if let reason = vault.readOnlyReason {
            // A copy is commonly used for inspection; a vault that was moved has no use any longer.
            let hint = vault.moveHint ?? vault.failedDiskHint
            return [
                DoctorFinding(
                    hint == nil ? .warning : .problem, .ownership, "\(reason): nothing is renewed here", hint: hint)
            ]
        }
        guard !diagnosis.ownsItsLock else {
            return [DoctorFinding(.ok, .ownership, "other processes see this one as alive")]
        }
        return [
            DoctorFinding(
                .problem, .ownership, "other processes do not see this one as alive, so it could not send anything",
                hint: "use a local file system that supports record locks")
        ]
    }

    static func spool(_ spool: VaultDiagnosis.Spool) -> [DoctorFinding] {
        if let problem = spool.problem {
            return [.unseen(.spool, problem, level: .problem, hint: "check the spool's files and their permissions")]
        }
        var findings: [DoctorFinding] = []
        if spool.entries > 0 {
            findings.append(
                DoctorFinding(
                    .warning, .spool,
                    "\(Count.of(spool.entries, "reply", plural: "replies")) of providers could not be stored, and "
                        + "\(spool.entries == 1 ? "waits" : "wait") beside the vault",
                    hint: "free some disk space; a running service then stores them within seconds; without one, "
                        + "run vaultctl login refresh for the login. Keep the .spool directory"))
        }
        if spool.tornEntries > 0 {
            findings.append(
                DoctorFinding(
                    .warning, .spool,
                    "\(Count.of(spool.tornEntries, "entry", plural: "entries")) cut short while being written",
                    hint:
                        "the login may have lost its chain: look for logins in doubt, and ask those users to log in again"
                )
            )
        }
        if spool.damagedEntries > 0 {
            findings.append(
                DoctorFinding(
                    .problem, .spool,
                    "\(Count.of(spool.damagedEntries, "entry", plural: "entries")) cannot be read with this vault's keys",
                    hint: "is this the spool of another vault, or was it copied without its vault? Do not delete it"))
        }
        return findings.isEmpty ? [DoctorFinding(.ok, .spool, "empty")] : findings
    }

    /// Counters that are not sealed. Nothing depends on their repair, so nothing else reports them.
    private func trail() async -> [DoctorFinding] {
        do {
            let limit = 100
            let damaged = try await vault.damageOfCounters(limit: limit)
            guard let first = damaged.first else {
                return [
                    DoctorFinding(
                        .ok, .trail,
                        "no row is outside its chain, and renewals are counted; contents: vaultctl audit verify")
                ]
            }
            let others =
                damaged.count == limit ? ", and more" : damaged.count > 1 ? ", and \(damaged.count - 1) more" : ""
            return [
                DoctorFinding(
                    .problem, .trail, "\(first.name): \(first.damage.message)\(others)",
                    hint: "the vault was changed without its key: find out by whom; then list them with "
                        + "vaultctl damage list, and discard each with vaultctl damage discard ROW")
            ]
        } catch {
            let failure = Failure(error)
            return [.unseen(.trail, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    /// Providers whose callbacks are indistinguishable (RFC 9700 §4.4).
    private func mixUp() async -> [DoctorFinding] {
        do {
            let groups = try await vault.providersThatCanBeMixedUp()
            guard !groups.isEmpty else {
                return [DoctorFinding(.ok, .mixUp, "no two servers share one without naming themselves")]
            }
            return groups.map { names in
                let listed = names.prefix(4).map { Printable.shortened($0) }.joined(separator: ", ")
                return DoctorFinding(
                    .warning, .mixUp, about: names.first,
                    "\(listed)\(names.count > 4 ? " and others" : "") share a redirect URI, and not all name their server in "
                        + "callbacks: a code of one could be sent to another",
                    hint: "give each its own: vaultctl provider update NAME --redirect-uri URL")
            }
        } catch {
            let failure = Failure(error)
            return [.unseen(.mixUp, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    private func outbox() async -> [DoctorFinding] {
        do {
            var page = try await vault.pendingRevocations(limit: Listing.pageSize)
            let count = try await vault.status().pendingRevocations
            guard let oldest = page.entries.first else {
                return [DoctorFinding(.ok, .outbox, "no revocation is pending")]
            }
            var text = "\(Count.of(count, "revocation")) not confirmed by their providers"
            var isOld = false
            if case .pending(let revocation) = oldest {
                text += ", the oldest from \(Instant.relative(revocation.createdAt, now: invocation.now))"
                isOld = invocation.now.timeIntervalSince(revocation.createdAt) > 86_400
            }
            var unsendable = page.entries.count(where: \.isOfRemovedProvider)
            while let next = page.next {
                page = try await vault.pendingRevocations(after: next, limit: Listing.pageSize)
                unsendable += page.entries.count(where: \.isOfRemovedProvider)
            }
            if unsendable > 0 { text += "; \(OutboxWords.unsendable(unsendable))" }
            let retry = unsendable < count ? "; try them now: vaultctl outbox retry --all" : ""
            return [
                DoctorFinding(
                    isOld ? .warning : .note, .outbox, text, hint: "list them: vaultctl outbox list\(retry)")
            ]
        } catch {
            let failure = Failure(error)
            return [.unseen(.outbox, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }
}
