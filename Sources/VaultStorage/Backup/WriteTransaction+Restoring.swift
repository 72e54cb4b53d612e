import VaultCrypto

extension WriteTransaction {
    /// Turns the content of a backup into a vault that continues from there. The first row of its trail records the
    /// restore. Every login is held, except those that have not moved according to the evidence.
    ///
    /// Pending log-ins are dropped: their codes are spent or expired. Open renewals are dropped too, because their
    /// owners are gone; each login remembers that its refresh token may be spent. Observers have no process any more.
    /// Revocations stay: revoking twice does no harm.
    ///
    /// - Parameter path: the path of the backup. The vault could not know it when the backup was made.
    package func restore(
        _ backup: BackupManifest, at path: String, _ evidence: RestoreEvidence
    ) throws(StoreError) -> RestoreOutcome {
        let incarnation = rows.current.incarnation + 1
        try changeVault(
            AuditEvent(
                .vaultRestored,
                [
                    .init("backup", backup.backup.text), .init("madeAt", "\(backup.madeAt.milliseconds)"),
                    .init("head", "\(backup.vaultSequence)"), .init("incarnation", "\(incarnation)"),
                    .init("evidence", evidence.word),
                ])
        ) { $0.incarnation = incarnation }
        context.adopt(rows.current)
        try put(
            BackupRecord(
                handle: backup.backup, madeAt: backup.madeAt, auditSequence: backup.vaultSequence,
                byteCount: backup.byteCount, path: path, recipients: backup.recipients, finishedAt: backup.madeAt))
        for var observer in try observers() {
            observer.owner = ObserverRecord.nobody
            try put(observer)
        }
        let logIns = try dropLogIns()
        let renewals = try dropRenewals()
        let accepted = try acceptUnmoved(evidence, besides: Set(renewals))
        return RestoreOutcome(
            incarnation: incarnation, droppedLogIns: logIns, droppedRenewals: renewals.count, accepted: accepted)
    }

    private func dropLogIns() throws(StoreError) -> Int {
        let numbers = try numbers(of: .authorizationRequest)
        for number in numbers {
            let delete = try tables.cursor(.deletesByNumber[.authorizationRequest])
            delete.bind(1, number)
            try delete.run()
            try audit(AuditEvent(.logInDropped), about: AuditSubject())
        }
        return numbers.count
    }

    private func numbers(of table: Table) throws(StoreError) -> [Int64] {
        let rows = try tables.cursor(.numbersFrom[table])
        defer { rows.reset() }
        rows.bind(1, .min)
        rows.bind(2, .max)
        var numbers: [Int64] = []
        while try rows.step() { numbers.append(rows.integer(0)) }
        return numbers
    }

    /// Drops the open renewals and returns their logins. A login whose row does not open stays as it is: it sends
    /// nothing.
    private func dropRenewals() throws(StoreError) -> [LoginHandle] {
        let rows = try tables.cursor(.openIntents)
        rows.bind(1, .min)
        rows.bind(2, .max)
        var logins: [LoginHandle] = []
        while try rows.step() {
            if let handle = rows.bytes16(0) { logins.append(LoginHandle(handle)) }
        }
        rows.reset()
        for login in logins {
            do {
                try updateLogin(login) { $0.dropRenewal() }
            } catch {
                guard let error = error as? StoreError, error.isDamage else { throw Self.storeError(error) }
            }
        }
        return logins
    }

    private func acceptUnmoved(
        _ evidence: RestoreEvidence, besides open: Set<LoginHandle>
    ) throws(StoreError) -> Int {
        if evidence == .none { return 0 }
        var accepted = 0
        var last: LoginHandle?
        while true {
            let page = try loginHandles(after: last, limit: 1_024)
            for login in page where !open.contains(login) && !evidence.holds(login) {
                do {
                    try updateLogin(login) { _ = $0.acceptRestore() }
                    accepted += 1
                } catch {
                    guard let error = error as? StoreError, error.isDamage else { throw Self.storeError(error) }
                }
            }
            last = page.last
            if last == nil { return accepted }
        }
    }

    private func loginHandles(after handle: LoginHandle?, limit: Int) throws(StoreError) -> [LoginHandle] {
        let rows = try tables.cursor(.loginHandles)
        defer { rows.reset() }
        rows.bind(1, handle.map { $0.bytes.array } ?? [])
        rows.bind(2, Int64(limit))
        var page: [LoginHandle] = []
        while try rows.step() {
            if let bytes = rows.bytes16(0) { page.append(LoginHandle(bytes)) }
        }
        return page
    }

    /// The error as a ``StoreError``. A body that throws no error of its own throws nothing else.
    private static func storeError(_ error: any Error) -> StoreError {
        error as? StoreError ?? StoreError(.io(0), "the restore could not be completed")
    }
}

extension LoginState {
    /// Drops a renewal whose owner is gone. The result depends on whether a request may have been sent.
    fileprivate mutating func dropRenewal() {
        guard let open = intent else { return }
        let mayBeSpent = open.isInDoubt || open.tries > 0
        intent = nil
        session.doubtCause = nil
        if mayBeSpent, let known = refresh {
            refresh?.doubtSince = known.doubtSince ?? open.doubtSince ?? open.startedAt
        }
        auditEvents.append(AuditEvent(.renewalDropped, [.init("mayBeSpent", mayBeSpent ? "true" : "false")]))
    }

    /// Lets the login be renewed again, because the operator or the evidence allows it.
    /// Returns whether the login was held.
    package mutating func acceptRestore() -> Bool {
        guard isHeldByRestore else { return false }
        isAccepted = true
        auditEvents.append(AuditEvent(.restoreAccepted))
        return true
    }
}

extension Query {
    fileprivate static let loginHandles = select(
        Table.login.columns("handle"), from: .login, where: [.greater(Table.login["handle"], 1)],
        order: [.up(Table.login["handle"])], limit: 2)
}
