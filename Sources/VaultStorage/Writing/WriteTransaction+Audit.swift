import VaultCrypto

/// The subject of an audit row.
package struct AuditSubject {
    var user: UserHandle?
    var login: LoginHandle?
    var provider: ProviderHandle?
    var revision: Int64?

    package init(
        user: UserHandle? = nil, login: LoginHandle? = nil, provider: ProviderHandle? = nil, revision: Int64? = nil
    ) {
        self.user = user
        self.login = login
        self.provider = provider
        self.revision = revision
    }
}

extension WriteTransaction {
    package func audit(_ event: AuditEvent, about subject: AuditSubject) throws(StoreError) {
        try audit(event, about: subject, under: rows.keyring)
    }

    /// - Parameter keyring: the vault's keyring from this row on.
    func audit(_ event: AuditEvent, about subject: AuditSubject, under keyring: Keyring) throws(StoreError) {
        guard event.detailByteCount <= AuditEvent.maximumDetailByteCount else {
            throw StoreError(.invalidValue, "the details of this change are too long for the audit trail")
        }
        let columns = AuditColumns(
            sequence: head.sequence + 1, time: now(), kind: event.kind, user: subject.user, login: subject.login,
            provider: subject.provider, revision: subject.revision)
        let detail = try sealing { () throws(VaultCryptoError) in
            try AuditDetail(
                texts: event.detail, look: event.look, pruning: event.pruning, actor: context.actor,
                provider: event.provider, fence: event.fence, facts: event.facts
            ).sealed(columns, context.vaultID, keyring)
        }
        let tag = try sealing { () throws(VaultCryptoError) in
            if let detail { try SealedCell.tag(of: detail) } else { nil as CellTag? }
        }
        let mac = columns.link(context.vaultID, keyring, previous: head.mac, detailTag: tag)
        let insert = try tables.cursor(.insertAudit)
        insert.bind(1, columns.sequence)
        insert.bind(2, columns.time.milliseconds)
        insert.bind(3, columns.kind.rawValue)
        insert.bind(4, columns.user?.bytes)
        insert.bind(5, columns.login?.bytes)
        insert.bind(6, columns.provider?.bytes)
        insert.bind(7, columns.revision)
        unsafe mac.withUnsafeBytes { unsafe insert.bind(9, copying: $0) }
        if let detail {
            try insert.run(8, borrowing: detail)
        } else {
            insert.bindNull(8)
            try insert.run()
        }
        head = AuditHead(sequence: columns.sequence, mac: mac)
    }
}

// MARK: Rows that no process has written

extension WriteTransaction {
    /// Renumbers rows behind the end of the trail to numbers that no row of a vault has. There they block nothing, and
    /// stay until an operator has examined them.
    func setAsideRowsBehindEnd() throws(StoreError) {
        let planted = try AuditTrail(opener).rowsBehind(head.sequence)
        guard let first = planted.first else { return }
        for sequence in planted {
            let update = try tables.cursor(.renumberAudit)
            update.bind(1, sequence)
            update.bind(2, try numberAside(of: sequence))
            try update.run()
        }
        try audit(
            AuditEvent(
                .rowSetAside,
                [
                    .init("table", "audit"), .init("row", DamagedRowName.row(.audit, -first).description),
                    .init("rows", String(planted.count)),
                ]), about: AuditSubject())
    }

    /// The row's own number below zero, or the next free one.
    private func numberAside(of sequence: Int64) throws(StoreError) -> Int64 {
        var number = -sequence
        while try tables.has(.rowsByNumber[.audit], number) { number -= 1 }
        return number
    }
}

extension AuditEvent {
    fileprivate var detailByteCount: Int { detail.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
}

extension Query {
    fileprivate static let renumberAudit = update(
        .audit, "sequence", first: 2, where: [.equal(Table.audit["sequence"], 1)])

    fileprivate static let insertAudit = insert(
        into: .audit, "sequence", "time", "kind", "user", "login", "provider", "revision", "detailCell", "mac")
}
