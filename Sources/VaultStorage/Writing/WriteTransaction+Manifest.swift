import VaultCrypto

/// The manifest of a user. Only the required parts are read and written.
extension WriteTransaction {
    private func open(_ number: Int, of user: inout OpenUser) throws(StoreError) {
        guard !user.manifest.isOpen(number), let bits = user.manifest.bits else { return }
        user.manifest.open(number, try entries(of: number, bits, user))
    }

    private func entries(of number: Int, _ bits: Int, _ user: OpenUser) throws(StoreError) -> [ManifestEntry] {
        let (opener, columns, tag) = (opener, user.columns, user.manifest.tag(of: number))
        let result: Result<[ManifestEntry], StoreError> = unsafe user.dataKey.withUnsafeBytes { key in
            do throws(StoreError) { return .success(try unsafe opener.part(number, bits, tag, columns, key)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// - Throws: if a part does not open.
    func openManifest(of user: inout OpenUser) throws(StoreError) {
        for number in 0..<user.manifest.partCount { try open(number, of: &user) }
    }

    func isKnown(_ login: LoginHandle, to user: inout OpenUser) throws(StoreError) -> Bool {
        try open(user.manifest.part(of: login), of: &user)
        return user.manifest.entry(of: login) != nil
    }

    func put(_ entry: ManifestEntry, into user: inout OpenUser) throws(StoreError) {
        try open(user.manifest.part(of: entry.login), of: &user)
        user.manifest.put(entry)
    }

    func remove(_ login: LoginHandle, from user: inout OpenUser) throws(StoreError) {
        try open(user.manifest.part(of: login), of: &user)
        user.manifest.remove(login)
    }

    /// Divides the manifest again if it has too many or too few logins, and seals the parts that have changed.
    func sealParts(of user: inout OpenUser) throws(StoreError) -> [(number: Int, cell: [UInt8])] {
        let wanted = user.manifest.wantedBits(context.manifestLimits)
        if wanted != user.manifest.bits, try canOpenManifest(of: &user) {
            if let wanted {
                user.manifest.cut(wanted, context.manifestLimits)
            } else {
                let rows = try tables.loginRows(ofUserRow: user.columns.rowID)
                user.manifest.join(inOrderOf: rows.compactMap(\.handle))
            }
        }
        guard let bits = user.manifest.bits else { return [] }
        var sealed: [(number: Int, cell: [UInt8])] = []
        for (number, entries) in user.manifest.changed {
            let (key, handle) = (user.dataKey, user.columns.handle)
            let cell = try sealing { () throws(VaultCryptoError) in
                try SealedCell.seal(
                    ManifestPart.encoded(entries), kind: .manifestPart, key: key,
                    associatedData: ManifestPart.associatedData(
                        context.vaultID, handle, bits: bits, number: number))
            }
            let tag = try sealing { () throws(VaultCryptoError) in try SealedCell.tag(of: cell) }
            user.manifest.noteSealed(number, tag)
            opener.cache?.keep(entries, tag, of: handle)
            sealed.append((number, cell))
        }
        return sealed
    }

    /// Whether the whole manifest opens. A part that does not open must not block changes to the logins of the others:
    /// then the manifest keeps its division.
    private func canOpenManifest(of user: inout OpenUser) throws(StoreError) -> Bool {
        do throws(StoreError) { try openManifest(of: &user) } catch {
            guard error.isOfRow else { throw error }
            return false
        }
        return true
    }

    /// Writes the parts. The user's row must exist.
    func write(_ parts: [(number: Int, cell: [UInt8])], of user: inout OpenUser) throws(StoreError) {
        let wanted = user.manifest.partCount
        for number in wanted..<max(wanted, user.manifest.storedParts) {
            try deleteManifestPart(number, ofUserRow: user.columns.rowID)
        }
        for (number, cell) in parts {
            guard let row = ManifestPart.row(number, ofUserRow: user.columns.rowID) else {
                throw .quarantined("user", user.columns.handle.bytes, "its row has a number that no vault reaches")
            }
            let put = try tables.cursor(.putManifestPart)
            put.bind(1, row)
            try put.run(2, borrowing: cell)
        }
        user.manifest.noteStored()
    }

    private func deleteManifestPart(_ number: Int, ofUserRow user: Int64) throws(StoreError) {
        guard let row = ManifestPart.row(number, ofUserRow: user) else { return }
        let delete = try tables.cursor(.deletesByNumber[.manifestPart])
        delete.bind(1, row)
        try delete.run()
    }

    /// Deletes all parts stored for the user, whether the user's cell names them or not.
    func deleteManifestParts(ofUserRow user: Int64) throws(StoreError) {
        guard let first = ManifestPart.row(0, ofUserRow: user) else { return }
        let delete = try tables.cursor(.deleteManifestParts)
        delete.bind(1, first)
        delete.bind(2, ManifestPart.row(0, ofUserRow: user + 1) ?? .max)
        try delete.run()
    }
}

extension Query {
    fileprivate static let putManifestPart = insert(into: .manifestPart, "id", "cell", onConflict: .updates(by: "id"))

    fileprivate static let deleteManifestParts = delete(
        from: .manifestPart,
        where: [.atLeast(Table.manifestPart["id"], 1), .less(Table.manifestPart["id"], 2)])
}
