import VaultCrypto

/// Seals the cells of logins for the vault's current state. Needs no transaction.
struct LoginSealer {
    private let vaultID: Bytes16
    private let incarnation: Int64

    init(_ context: VaultContext) {
        vaultID = context.vaultID
        incarnation = context.incarnation
    }

    /// The incarnation of a login. A login whose chain another system owns gets one that is older than that of any
    /// vault.
    func incarnation(of session: SessionRecord) -> Int64 {
        session.isHeldBySource ? VaultContext.importedIncarnation : incarnation
    }

    /// The login that a draft describes.
    func login(_ draft: LoginDraft, _ handle: LoginHandle) -> OpenLogin {
        var login = OpenLogin(
            columns: LoginColumns(
                handle: handle, provider: draft.provider, incarnation: incarnation(of: draft.session)),
            session: draft.session, refresh: draft.refresh, key: draft.key)
        login.columns.dueAt = draft.dueAt(of: handle)
        return login
    }

    /// Seals all cells of a login that has no row yet.
    func seal(new login: OpenLogin, of user: UserHandle, _ dataKey: SealingKey) throws(StoreError) -> SealedLogin {
        var login = login
        login.columns.revision = 1
        let (refresh, key) = try sealSecrets(of: &login, user, dataKey)
        let (session, tag) = try seal(login.session, &login.columns, user, dataKey)
        return SealedLogin(open: login, session: session, tag: tag, refresh: refresh, key: key)
    }

    /// Seals both secret cells and notes their tags.
    func sealSecrets(
        of login: inout OpenLogin, _ user: UserHandle, _ dataKey: SealingKey
    ) throws(StoreError) -> (refresh: [UInt8]?, key: [UInt8]?) {
        let columns = login.columns
        let refresh = try login.refresh.map { value throws(StoreError) in
            try seal(value.encoded(), .refresh, columns, user, dataKey)
        }
        let key = try login.key.map { value throws(StoreError) in
            try seal(value.encoded(), .key, columns, user, dataKey)
        }
        login.columns.refreshTag = refresh?.tag
        login.columns.keyTag = key?.tag
        return (refresh?.cell, key?.cell)
    }

    /// Seals one of the two secret cells.
    func seal(
        _ record: consuming RecordWriter, _ kind: CellKind, _ columns: LoginColumns, _ user: UserHandle,
        _ dataKey: SealingKey
    ) throws(StoreError) -> (cell: [UInt8], tag: CellTag) {
        try seal(record, kind, dataKey, columns.secretData(vaultID, user))
    }

    /// Seals the session cell over the current columns.
    func seal(
        _ session: SessionRecord, _ columns: inout LoginColumns, _ user: UserHandle, _ dataKey: SealingKey
    ) throws(StoreError) -> (cell: [UInt8], tag: CellTag) {
        columns.expiresAt = LoginColumns.roundedUp(session.expiresAt)
        return try seal(session.encoded(), .session, dataKey, columns.sessionData(vaultID, user))
    }

    private func seal(
        _ record: consuming RecordWriter, _ kind: CellKind, _ dataKey: SealingKey, _ data: consuming AssociatedData
    ) throws(StoreError) -> (cell: [UInt8], tag: CellTag) {
        do throws(VaultCryptoError) {
            let cell = try SealedCell.seal(record, kind: kind, key: dataKey, associatedData: data)
            return (cell, try SealedCell.tag(of: cell))
        } catch {
            throw StoreError(.invalidValue, error.message, hint: error.hint)
        }
    }
}

/// A login with its cells that has no row yet.
struct SealedLogin {
    var open: OpenLogin
    let session: [UInt8]
    /// The tag of the session cell.
    let tag: CellTag
    let refresh: [UInt8]?
    let key: [UInt8]?
}

/// A login to add, with its cells in case the vault does not have the user yet. This way one batch of an import is
/// sealed while another is written. It is a class so that batches pass from step to step without copies.
package final class DraftedLogin: Sendable {
    package let draft: LoginDraft
    /// The sealed login, with the data key that the user would get.
    let sealed: (login: SealedLogin, dataKey: SealingKey)?

    /// Creates a draft that is not sealed yet.
    package init(_ draft: LoginDraft) {
        self.draft = draft
        sealed = nil
    }

    /// Seals the draft. If that fails, the transaction seals it and reports the error.
    init(_ draft: LoginDraft, _ login: LoginHandle, of user: UserHandle, _ sealer: LoginSealer) {
        self.draft = draft
        guard let dataKey = try? OpenUser.newDataKey(user),
            let login = try? sealer.seal(new: sealer.login(draft, login), of: user, dataKey)
        else {
            sealed = nil
            return
        }
        sealed = (login, dataKey)
    }
}
