import Glibc
import VaultStorage

/// Runs operations in one transaction of the server. Each transaction that changes the vault waits for its turn first, so
/// nothing changes beneath it, and no two meet.
final class ServerWriteBatch: WriteBatching {
    /// How often a batch is tried that met others' locks, or lost its connection before the commit.
    private static let tries = 3

    private let address: ServerAddress
    private let context: VaultContext
    private let peers: PeerLiveness
    private var channel: Channel?
    private var committedHead: WriteTransaction.AuditHead?

    /// A connection with what writes by it.
    private struct Channel {
        let tables: ServerTables
        let transaction: WriteTransaction
        let session: ServerSession
    }

    init(_ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness) {
        self.address = address
        self.context = context
        self.peers = peers
    }

    func perform(_ operations: [any WriteOperation], committed: () -> Void) {
        let failure = commit(operations)
        committed()
        for operation in operations { operation.finish(failure) }
    }

    func close() { channel?.tables.connection.close() }

    // MARK: One transaction

    private func commit(_ operations: [any WriteOperation]) -> StoreError? {
        var met = StoreError.contended
        for _ in 0..<Self.tries {
            switch attempt(operations) {
            case .done(let failure): return failure
            case .again(let error): met = error
            }
        }
        return met
    }

    private enum Attempt {
        case done(StoreError?)
        /// Nothing was changed, and it may go better the next time.
        case again(StoreError)
    }

    private func attempt(_ operations: [any WriteOperation]) -> Attempt {
        let channel: Channel
        do throws(StoreError) { channel = try currentChannel() } catch { return .done(error) }
        do throws(StoreError) {
            try channel.tables.beginWriting()
            try channel.transaction.begin()
            for operation in operations { try run(operation, on: channel) }
        } catch {
            channel.tables.rollBack()
            guard channel.tables.connection.end != nil else {
                return error.code == .busy ? .again(error) : .done(error)
            }
            // The connection was lost, perhaps long ago, and with it everything that was not committed.
            self.channel = nil
            return .again(error)
        }
        return finish(channel)
    }

    /// Runs one operation; what it did is undone when it throws, and its neighbours feel nothing of it.
    private func run(_ operation: any WriteOperation, on channel: Channel) throws(StoreError) {
        let (tables, transaction) = (channel.tables, channel.transaction)
        let mark = transaction.mark
        try tables.setSavepoint()
        do { try operation.run(transaction) } catch {
            if tables.connection.end != nil { throw error as? StoreError ?? .unreachable }
            if let met = error as? StoreError, met == .contended { throw met }
            transaction.restore(mark, after: error)
            try tables.rollBackToSavepoint()
        }
    }

    private func finish(_ channel: Channel) -> Attempt {
        switch channel.tables.commit() {
        case .durable:
            note(channel)
            return .done(nil)
        case .undone(let error):
            channel.tables.rollBack()
            if channel.tables.connection.end != nil { self.channel = nil }
            return .done(error)
        case .unknown(let error):
            self.channel = nil
            return .done(settle(channel, error))
        }
    }

    private func note(_ channel: Channel) {
        channel.transaction.committed()
        committedHead = channel.transaction.committedHead
    }

    private func currentChannel() throws(StoreError) -> Channel {
        if let channel { return channel }
        let made = try makeChannel()
        channel = made
        return made
    }

    private func makeChannel() throws(StoreError) -> Channel {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        let tables = ServerTables(connection, address, peers)
        return Channel(
            tables: tables, transaction: try WriteTransaction(tables, context, committedHead: committedHead),
            session: try ServerSession(of: connection))
    }

    // MARK: A commit of which nothing is known

    /// How long is waited, in microseconds, before it is asked what became of a commit.
    private static let settlingPauses: [UInt32] = [0, 250_000, 500_000, 1_000_000, 2_000_000]

    /// Finds out what became of a commit whose answer never came, and writes that down; nil if it is in the vault.
    ///
    /// While a commit waits for a standby, only those who wait for its locks learn of it: so its turn is taken first, and then
    /// its link is looked for. The commit that records this is behind it in the server's log: once a standby has that one,
    /// it has both.
    private func settle(_ lost: Channel, _ error: StoreError) -> StoreError? {
        let head = lost.transaction.head
        let hasLink = head != lost.transaction.headAtBegin
        lost.tables.connection.close()
        for pause in Self.settlingPauses {
            usleep(pause)
            do throws(StoreError) {
                let channel = try makeChannel()
                do throws(StoreError) {
                    try channel.tables.beginWriting()
                } catch {
                    channel.tables.rollBack()
                    // The lost session may wait for ever, for a standby or for this machine. To end it settles its commit.
                    if error == .contended { try lost.session.end(by: channel.tables.connection) }
                    throw error
                }
                try channel.transaction.begin()
                let isThere = hasLink ? try channel.transaction.holds(head) : false
                try channel.transaction.audit(Self.event(isThere), about: AuditSubject())
                guard case .durable = channel.tables.commit() else { throw StoreError.unreachable }
                note(channel)
                self.channel = channel
                return isThere ? nil : error
            } catch {
                continue
            }
        }
        return error
    }

    private static func event(_ isThere: Bool) -> AuditEvent {
        AuditEvent(.commitSettled, [AuditEvent.Detail("outcome", isThere ? "durable" : "undone")])
    }
}
