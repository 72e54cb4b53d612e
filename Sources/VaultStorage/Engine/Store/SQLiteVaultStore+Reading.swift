import VaultCrypto

extension SQLiteVaultStore: VaultStore {
    package func session(_ selector: LoginSelector) throws(StoreError) -> SessionSnapshot {
        switch selector {
        case .user(let id):
            let index = context.keyring.blindIndex(ofUserID: id)
            return try readers.readNewest { reader throws(StoreError) in try reader.session(ofUser: index, nil) }
        case .login(let handle):
            return try readers.readNewest { reader throws(StoreError) in try reader.session(ofLogin: handle) }
        case .userLogin(let id, let handle):
            let index = context.keyring.blindIndex(ofUserID: id)
            return try readers.readNewest { reader throws(StoreError) in try reader.session(ofUser: index, handle) }
        }
    }

    package func login(_ handle: LoginHandle) throws(StoreError) -> StoredLogin {
        try readers.readNewest { reader throws(StoreError) in try reader.login(handle) }
    }

    package func logins(
        ofUser userID: String?, after: LoginHandle?, limit: Int
    ) throws(StoreError) -> [LoginListing] {
        try readers.readNewest { reader throws(StoreError) in
            guard let userID else { return try reader.logins(after: after, limit: limit) }
            let index = context.keyring.blindIndex(ofUserID: userID)
            return try reader.logins(ofUser: index, after: after, limit: limit)
        }
    }

    package func dueLogins(
        before time: Timestamp, after cursor: DueCursor?, limit: Int
    ) throws(StoreError) -> DuePage {
        try readers.readNewest { reader throws(StoreError) in
            try reader.dueLogins(before: time, after: cursor, limit: limit)
        }
    }

    package func untoldFailures(limit: Int) throws(StoreError) -> [LoginHandle] {
        try readers.read { reader throws(StoreError) in try reader.untoldFailures(limit: limit) }
    }

    package func user(_ id: String) throws(StoreError) -> StoredUser {
        let index = context.keyring.blindIndex(ofUserID: id)
        return try readers.readNewest { reader throws(StoreError) in try reader.user(index) }
    }

    package func users(after: UserHandle?, limit: Int) throws(StoreError) -> [UserListing] {
        try readers.readNewest { reader throws(StoreError) in try reader.users(after: after, limit: limit) }
    }

    package func providers(after sequence: Int64?, limit: Int) throws(StoreError) -> [ProviderListing] {
        try readers.readNewest { reader throws(StoreError) in
            try reader.providers.listings(after: sequence, limit: limit)
        }
    }

    package func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider {
        try readers.readNewest { reader throws(StoreError) in try reader.providers.provider(handle) }
    }

    package func provider(named name: String) throws(StoreError) -> StoredProvider {
        try readers.readNewest { reader throws(StoreError) in try reader.providers.provider(named: name) }
    }

    package func providers(ofUser userID: String) throws(StoreError) -> Set<ProviderHandle> {
        let index = context.keyring.blindIndex(ofUserID: userID)
        return try readers.readNewest { reader throws(StoreError) in try reader.providers(ofUser: index) }
    }

    package func damagedRows(limit: Int) throws(StoreError) -> [DamagedRow] {
        try readers.read { reader throws(StoreError) in try reader.damage.all(limit: limit) }
    }

    package func damagedRow(_ name: DamagedRowName) throws(StoreError) -> DamagedRowContent {
        try readers.read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in
                let row = try reader.damage.find(name)
                return try reader.damage.content(of: row)
            }
        }
    }

    package func auditEntries(after sequence: Int64, limit: Int) throws(StoreError) -> [AuditEntry] {
        try readers.readNewest { reader throws(StoreError) in try reader.auditEntries(after: sequence, limit: limit) }
    }

    package func lastRenewal(
        at provider: ProviderHandle, otherThan login: LoginHandle, since: Timestamp
    ) throws(StoreError) -> Timestamp? {
        try readers.readNewest { reader throws(StoreError) in
            try reader.lastRenewal(at: provider, otherThan: login, since: since)
        }
    }

    package func auditHead() throws(StoreError) -> Int64 {
        try readers.readNewest { reader throws(StoreError) in try reader.auditHead() }
    }

    package func userID(of handle: UserHandle) throws(StoreError) -> String {
        try readers.readNewest { reader throws(StoreError) in try reader.userID(of: handle) }
    }

    package func dueOutboxEntries(at time: Timestamp, limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        try readers.readNewest { reader throws(StoreError) in try reader.dueOutboxEntries(at: time, limit: limit) }
    }

    package func outbox(after sequence: Int64?, limit: Int) throws(StoreError) -> [OutboxListing] {
        try readers.readNewest { reader throws(StoreError) in try reader.outbox(after: sequence, limit: limit) }
    }

    package func outboxEntry(_ handle: OutboxHandle) throws(StoreError) -> StoredOutboxEntry {
        try readers.readNewest { reader throws(StoreError) in try reader.outboxEntry(handle) }
    }

    package func unusableReplies(of login: LoginHandle) throws(StoreError) -> [UnusableReplyListing] {
        try readers.readNewest { reader throws(StoreError) in try reader.unusableReplies(of: login) }
    }

    package func keySlots() throws(StoreError) -> [StoredKeySlot] {
        try readers.readNewest { reader throws(StoreError) in try reader.keySlots() }
    }

    package var openingKeySlot: KeySlotHandle { context.openedBy.handle }

    package func openIntents(after fence: Int64?, limit: Int) throws(StoreError) -> IntentPage {
        try readers.readNewest { reader throws(StoreError) in try reader.openIntents(after: fence, limit: limit) }
    }

    package func hasOpenIntents() throws(StoreError) -> Bool {
        try readers.readNewest { reader throws(StoreError) in try reader.hasOpenIntents() }
    }

    package func spoolDepth() throws(StoreError) -> SpoolDepth { try spoolFile.depth() }

    package func statistics() throws(StoreError) -> StoreStatistics {
        var statistics = try readers.readNewest { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in try reader.statistics() }
        }
        statistics.spool = try spoolDepth()
        return statistics
    }

    package func depths() throws(StoreError) -> StoreDepths {
        try readers.readNewest { reader throws(StoreError) in try reader.depths() }
    }

    package var owner: Int64 { ownerLock.owner }

    package func isOwnerAlive(_ owner: Int64) -> Bool { ownerLock.isAlive(owner) }

    package var ownsItsLock: Bool { ownerLock.isHeld }
}
