import Platform
import Synchronization
import VaultCrypto

/// Keeps server replies next to the vault while the vault cannot store them, so that no token is lost with a full or
/// failing vault file, or with the process.
package final class Spool: Sendable {
    private let directory: SpoolDirectory
    private let context: VaultContext
    private let lock: any Ownership
    private let own = Mutex<Own>(.unopened)

    private enum Own: @unchecked Sendable {
        case unopened
        case open(SpoolFile)
        case closed
    }

    /// - Parameters:
    ///   - path: the path of the spool's directory, which may not exist yet.
    ///   - parent: the directory that contains it.
    package init(at path: String, in parent: String, _ context: VaultContext, _ lock: any Ownership) {
        directory = SpoolDirectory(at: path, in: parent)
        self.context = context
        self.lock = lock
    }

    /// Reserves room for this number of usual replies, and for at least 16, even if the file system has no room left
    /// later.
    package func prepare(for count: Int) throws(StoreError) {
        try own.withLock { own throws(StoreError) in
            try file(&own).reserve(SpoolFile.reserve(for: count))
        }
    }

    package func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        let head = SpoolFrame.Head(
            vault: context.vaultID, entry: SecureRandom.bytes16(), login: reply.login, position: reply.position,
            fence: reply.fence)
        let cell: [UInt8]
        do throws(VaultCryptoError) {
            cell = try SealedCell.seal(
                reply.encoded(), kind: .spool, key: context.keyring.primaryRoot,
                associatedData: head.associatedData())
        } catch {
            throw StoreError(.invalidValue, error.message, hint: error.hint)
        }
        let frame = SpoolFrame.bytes(head, cell: cell)
        try own.withLock { own throws(StoreError) in
            try file(&own).write(frame)
        }
        return SpoolHandle(owner: lock.owner, entry: head.entry)
    }

    package func remove(_ handle: SpoolHandle) throws(StoreError) {
        if handle.owner == lock.owner {
            try own.withLock { own throws(StoreError) in
                if case .closed = own { return try removeFromDead(handle) }
                try file(&own).remove(handle.entry)
            }
        } else {
            guard !lock.isAlive(handle.owner) else {
                throw StoreError(.conflict, "the spooled reply belongs to a process that lives")
            }
            try removeFromDead(handle)
        }
    }

    private func removeFromDead(_ handle: SpoolHandle) throws(StoreError) {
        guard let file = try directory.openExisting(handle.owner) else { return }
        try file.remove(handle.entry)
        if file.isEmpty { try directory.remove(handle.owner) }
    }

    /// The entries of this process and of dead processes. Removes an empty file of a dead process.
    package func listings() throws(StoreError) -> [SpoolListing] {
        var result: [SpoolListing] = []
        for owner in try directory.owners() {
            do throws(StoreError) {
                if owner == lock.owner {
                    result += try own.withLock { own throws(StoreError) in
                        if case .closed = own { return [] }
                        return try listings(file(&own), owner)
                    }
                } else if !lock.isAlive(owner) {
                    result += try listingsOfDead(owner)
                }
            } catch {
                result.append(SpoolListing(owner: owner, handle: nil, reply: nil, damage: .unreadableFile(error)))
            }
        }
        return result
    }

    /// The owners that have a file in the directory.
    package func owners() throws(StoreError) -> [Int64] { try directory.owners() }

    private func listingsOfDead(_ owner: Int64) throws(StoreError) -> [SpoolListing] {
        guard let file = try directory.openExisting(owner) else { return [] }
        if file.isEmpty {
            try directory.remove(owner)
            return []
        }
        return try listings(file, owner)
    }

    private func listings(_ file: SpoolFile, _ owner: Int64) throws(StoreError) -> [SpoolListing] {
        let bytes = try file.read()
        return SpoolImage(bytes).pieces.map { piece in
            var reply: SpooledReply?
            var damage: SpoolListing.Damage?
            if let head = piece.head, let cell = piece.cell {
                do throws(StoreError) { reply = try open(bytes, cell, head) } catch { damage = .unopenable(error) }
            } else {
                damage = .torn
            }
            return SpoolListing(
                owner: owner, handle: SpoolHandle(owner: owner, entry: piece.name), reply: reply, damage: damage)
        }
    }

    package func depth() throws(StoreError) -> SpoolDepth {
        var depth = SpoolDepth()
        for owner in try directory.owners() {
            do throws(StoreError) {
                guard let bytes = try directory.peek(owner) else { continue }
                let pieces = SpoolImage(bytes).pieces
                let whole = pieces.count { $0.cell != nil }
                depth.bytes += bytes.count
                depth.entries += whole
                if owner == lock.owner || !lock.isAlive(owner) { depth.damaged += pieces.count - whole }
            } catch {
                depth.damaged += 1
            }
            depth.files += 1
        }
        return depth
    }

    /// The roots under which the replies are sealed, including those of living processes.
    package func roots() throws(StoreError) -> [SpooledRoot] {
        var roots: [SpooledRoot] = []
        for owner in try directory.owners() {
            guard let bytes = try directory.peek(owner) else { continue }
            for cell in SpoolImage(bytes).pieces.compactMap(\.cell) {
                let key = unsafe bytes.span.bytes.withUnsafeBytes { bytes in
                    unsafe try? SealedCell.keyID(of: UnsafeRawBufferPointer(rebasing: bytes[cell]), kind: .spool)
                }
                if let key { roots.append(SpooledRoot(owner: owner, root: key)) }
            }
        }
        return roots
    }

    private func open(_ bytes: [UInt8], _ cell: Range<Int>, _ head: SpoolFrame.Head) throws(StoreError) -> SpooledReply
    {
        do throws(VaultCryptoError) {
            guard head.vault == context.vaultID else {
                throw VaultCryptoError(.unknownKey, "it was written by another vault")
            }
            let scratch = try CellScratch(byteCount: max(cell.count, SealedCell.minimumByteCount))
            return try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(VaultCryptoError) in
                let cell = unsafe UnsafeRawBufferPointer(rebasing: bytes[cell])
                let key = try context.root(try unsafe SealedCell.keyID(of: cell, kind: .spool))
                let opened = try unsafe SealedCell.Opened(
                    cell, kind: .spool, key: key, associatedData: head.associatedData(), scratch: scratch)
                defer { opened.wipe(scratch) }
                return try unsafe SpooledReply(opened.plaintext, head: head)
            }
        } catch {
            throw .quarantined("spool", head.entry, error)
        }
    }

    /// This process's file. It is reopened if the host closed its descriptor or if the file was removed.
    private func file(_ own: inout Own) throws(StoreError) -> SpoolFile {
        switch own {
        case .closed: throw .closed
        case .open(let file) where file.isUsable: return file
        case .open, .unopened:
            if ForkGuard.isForked { throw .ownershipLost }
            own = .unopened
            let file = try directory.openOwn(lock.owner)
            own = .open(file)
            return file
        }
    }

    /// Leaves the remaining entries to other processes.
    package func close() {
        own.withLock { own in
            if case .open(let file) = own, file.isUsable, file.isEmpty { try? directory.remove(lock.owner) }
            own = .closed
        }
    }
}
