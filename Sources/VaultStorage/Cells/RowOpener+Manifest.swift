import VaultCrypto

/// All logins that a user's manifest names, and the parts that do not open.
struct KnownLogins {
    var entries: [LoginHandle: ManifestEntry] = [:]
    /// The errors, by the part's number.
    var damage: [Int: StoreError] = [:]

    /// The logins, sorted by handle.
    var logins: [LoginHandle] { entries.keys.sorted { $0.bytes < $1.bytes } }

    /// Whether a part that does not open may name the login.
    func mayName(_ login: LoginHandle, _ parts: ManifestParts?) -> Bool {
        guard let parts, !damage.isEmpty else { return false }
        return damage[login.part(parts.bits)] != nil
    }
}

extension RowOpener {
    /// The manifest's entry for a login; `nil` if the manifest does not name it.
    @inline(__always)
    func entry(
        of login: LoginHandle, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> ManifestEntry? {
        guard let parts = view.parts else { return view.entry(of: login) }
        return try entry(of: login, user, view, parts)
    }

    @inline(never)
    private func entry(
        of login: LoginHandle, _ user: UserColumns, _ view: UserCellView, _ parts: ManifestParts
    ) throws(StoreError) -> ManifestEntry? {
        let number = login.part(parts.bits)
        if let known = view.known {
            if let damage = known.damage[number] { throw damage }
            return known.entries[login]
        }
        return try unsafe part(number, parts.bits, parts.tag(of: number), user, view.dataKey).find(login)
    }

    /// The same view for callers that read many entries: it finds each one at once.
    func indexed(_ view: UserCellView, _ user: UserColumns) throws(StoreError) -> UserCellView {
        guard view.known == nil, view.parts != nil || view.loginCount > Self.fewLogins else { return view }
        var view = view
        view.known = try knownLogins(user, view)
        return view
    }

    private static let fewLogins = 16

    /// All logins that the user's manifest names. A part that does not open hides only its own logins.
    func knownLogins(_ user: UserColumns, _ view: UserCellView) throws(StoreError) -> KnownLogins {
        if let known = view.known { return known }
        var known = KnownLogins()
        known.entries.reserveCapacity(view.loginCount)
        guard let parts = view.parts else {
            for entry in view.entries { known.entries[entry.login] = entry }
            return known
        }
        var rest: Set<Int> = []
        for number in 0..<parts.count {
            if let entries = cache?.entries(parts.tag(of: number), of: user.handle) {
                for entry in entries { known.entries[entry.login] = entry }
            } else {
                rest.insert(number)
            }
        }
        try eachPartRow(ofUserRow: user.rowID) { number, row throws(StoreError) in
            guard rest.remove(number) != nil else { return }
            do throws(StoreError) {
                let entries = try unsafe open(row, number, parts.bits, parts.tag(of: number), user, view.dataKey)
                for entry in entries { known.entries[entry.login] = entry }
            } catch {
                guard error.isOfRow else { throw error }
                noteTear()
                known.damage[number] = error
            }
        }
        if !rest.isEmpty { noteTear() }
        for number in rest { known.damage[number] = missingPart(number, user) }
        return known
    }

    /// The rows of a user's parts, whether the user's cell names them or not. Column 1 is the cell.
    func eachPartRow(
        ofUserRow user: Int64, _ body: (Int, any RowCursor) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let first = ManifestPart.row(0, ofUserRow: user) else { return }
        let row = try tables.cursor(.manifestParts)
        defer { row.reset() }
        row.bind(1, first)
        row.bind(2, ManifestPart.row(0, ofUserRow: user + 1) ?? .max)
        while try row.step() { try body(ManifestPart.place(ofRow: row.integer(0)).number, row) }
    }

    /// One part of a manifest, in the order of the handles.
    func part(
        _ number: Int, _ bits: Int, _ tag: CellTag, _ user: UserColumns, _ dataKey: UnsafeRawBufferPointer
    ) throws(StoreError) -> [ManifestEntry] {
        if let known = cache?.entries(tag, of: user.handle) { return known }
        guard let id = ManifestPart.row(number, ofUserRow: user.rowID) else { throw missingPart(number, user) }
        let row = try tables.cursor(.manifestPart)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { throw missingPart(number, user) }
        return try unsafe open(row, number, bits, tag, user, dataKey)
    }

    private func open(
        _ row: any RowCursor, _ number: Int, _ bits: Int, _ tag: CellTag, _ user: UserColumns,
        _ dataKey: UnsafeRawBufferPointer
    ) throws(StoreError) -> [ManifestEntry] {
        let cell = unsafe row.blob(1)
        guard unsafe (try? SealedCell.tag(of: cell)) == tag else {
            throw damagedPart(number, user, "it is not the version that its user's cell lists")
        }
        do throws(VaultCryptoError) {
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .manifestPart, key: dataKey, keyID: KeyID(user.handle.bytes),
                associatedData: ManifestPart.associatedData(
                    context.vaultID, user.handle, bits: bits, number: number), scratch: scratch)
            defer { opened.wipe(scratch) }
            let entries = try unsafe ManifestPart.entries(opened.plaintext, bits: bits, number: number)
            cache?.keep(entries, tag, of: user.handle)
            return entries
        } catch {
            if case .outOfGuardedMemory = error.code {
                throw StoreError(.outOfMemory, error.message, hint: error.hint)
            }
            throw damagedPart(number, user, error.message)
        }
    }

    private func missingPart(_ number: Int, _ user: UserColumns) -> StoreError {
        return damagedPart(number, user, "its row is missing")
    }

    private func damagedPart(_ number: Int, _ user: UserColumns, _ reason: String) -> StoreError {
        .quarantined(ManifestPart.tableName, nil, "part \(number) of the user \(user.handle.text): \(reason)")
    }
}

extension Query {
    static let manifestPart = select(
        Table.manifestPart.columns("id", "cell"), from: .manifestPart, where: [.equal(Table.manifestPart["id"], 1)])

    static let manifestParts = select(
        Table.manifestPart.columns("id", "cell"), from: .manifestPart,
        where: [.atLeast(Table.manifestPart["id"], 1), .less(Table.manifestPart["id"], 2)],
        order: [.up(Table.manifestPart["id"])])
}
