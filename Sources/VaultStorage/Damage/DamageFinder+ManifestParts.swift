import VaultCrypto

/// Parts of manifests: a user's cell names each part, and the part names logins.
extension DamageFinder {
    /// A part that does not open, that is missing, or that belongs to no user.
    func checkManifestPart(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let (userRow, number) = ManifestPart.place(ofRow: id)
        let isThere = try tables.has(.rowsByNumber[.manifestPart], id)
        guard try tables.has(.rowsByNumber[.user], userRow) else {
            return isThere ? part(id, "its user is missing") : nil
        }
        var found: DamagedRow?
        _ = try opener.user(ofRow: userRow) { columns, view throws(StoreError) in
            found = try damage(ofPart: id, number, isThere, columns, view)
            found?.user = columns.handle
            found?.userId = view.userIdText
        }
        return found
    }

    private func damage(
        ofPart id: Int64, _ number: Int, _ isThere: Bool, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> DamagedRow? {
        guard let parts = view.parts, number < parts.count else {
            return isThere ? part(id, "its user does not name it") : nil
        }
        do throws(StoreError) {
            _ = try unsafe opener.part(number, parts.bits, parts.tag(of: number), user, view.dataKey)
            return nil
        } catch {
            guard error.isOfRow else { throw error }
            return DamagedRow(place: .row(.manifestPart, id: id), handle: nil, damage: error)
        }
    }

    private func part(_ id: Int64, _ reason: String) -> DamagedRow {
        DamagedRow(
            place: .row(.manifestPart, id: id), handle: nil, damage: .quarantined(ManifestPart.tableName, nil, reason))
    }

    /// The rows that a user's cell names and that do not exist.
    func missingParts(ofUserRow id: Int64) throws(StoreError) -> [Int64] {
        let missing = try opener.user(ofRow: id) { columns, view throws(StoreError) in
            var numbers = Set(0..<(view.parts?.count ?? 0))
            if numbers.isEmpty { return numbers }
            try opener.eachPartRow(ofUserRow: id) { number, _ in numbers.remove(number) }
            return numbers
        }
        return (missing ?? []).sorted().compactMap { ManifestPart.row($0, ofUserRow: id) }
    }

    /// The logins that the part in that row names, or would name, found by their own handles because the part may not
    /// open. Returns nil if the user has no such part.
    func loginRows(ofPart id: Int64) throws(StoreError) -> [(row: Int64, handle: LoginHandle)]? {
        let (userRow, number) = ManifestPart.place(ofRow: id)
        let bits = try opener.user(ofRow: userRow) { _, view in
            view.parts.flatMap { number < $0.count ? $0.bits : nil }
        }
        guard let bits, let bits else { return nil }
        var rows: [(row: Int64, handle: LoginHandle)] = []
        for row in try tables.loginRows(ofUserRow: userRow) {
            if let handle = row.handle, handle.part(bits) == number { rows.append((row.row, handle)) }
        }
        return rows
    }
}

extension StoreError {
    static func goesWithPart(_ part: DamagedRowName) -> StoreError {
        StoreError(
            .conflict, "the login is damaged with others, by the part of its user's manifest: \(part)",
            hint: "see which go with it: `vaultctl damage show \(part)`")
    }

    var isOfManifestPart: Bool {
        if case .quarantined(let table, _) = code { table == ManifestPart.tableName } else { false }
    }
}
