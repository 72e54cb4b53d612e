import VaultCrypto

/// What an operation works with on the writer thread, inside an open transaction.
final class WriteTransaction {
    /// The end of the audit chain.
    struct AuditHead: Equatable {
        var sequence: Int64
        var mac: AuditMAC
    }

    /// Counters that nothing authenticates are not believed beyond it, so that going on counting cannot overflow.
    static let counterLimit: Int64 = 1 << 62

    let connection: Connection
    let context: VaultContext
    let opener: RowOpener
    var head = AuditHead(sequence: 0, mac: .genesis)
    private(set) var headAtBegin = AuditHead(sequence: 0, mac: .genesis)
    /// The highest end of the chain that this process has committed. A vault that falls behind it was rolled back.
    private(set) var committedHead: AuditHead?
    private var failure: StoreError?

    /// - Parameter committedHead: known from another connection of this process.
    init(
        _ connection: Connection, _ context: VaultContext, committedHead: AuditHead? = nil
    ) throws(StoreError) {
        self.connection = connection
        self.context = context
        self.committedHead = committedHead
        do throws(VaultCryptoError) {
            opener = RowOpener(context: context, scratch: try CellScratch())
        } catch {
            throw StoreError(.outOfMemory, error.reason, hint: error.hint)
        }
    }

    /// Reads the end of the audit chain, now that nobody else can write.
    func begin() throws(StoreError) {
        failure = nil
        let last = try connection.statement("SELECT sequence, mac FROM audit ORDER BY sequence DESC LIMIT 1")
        defer { last.reset() }
        if try last.step() {
            guard let mac = unsafe AuditMAC(last.blob(1)) else {
                throw .quarantined("audit", nil, "the last row's authentication code has the wrong length")
            }
            guard (0..<Self.counterLimit).contains(last.integer(0)) else {
                throw .quarantined("audit", nil, "the last row has a number that no vault reaches")
            }
            head = AuditHead(sequence: last.integer(0), mac: mac)
        } else {
            head = AuditHead(sequence: 0, mac: .genesis)
        }
        headAtBegin = head
        guard let committedHead, head.sequence <= committedHead.sequence, head != committedHead else { return }
        throw StoreError(
            .rollbackSuspected, "the vault is older than what this process has already written to it",
            hint: "find out who replaced the file; nothing is written to it")
    }

    func committed() { committedHead = head }

    /// Whether the audit chain has this very link: the transaction that wrote it is then in the vault, as a whole.
    func holds(_ link: AuditHead) throws(StoreError) -> Bool {
        let row = try connection.statement("SELECT mac FROM audit WHERE sequence = ?1")
        defer { row.reset() }
        row.bind(1, link.sequence)
        guard try row.step() else { return false }
        return unsafe AuditMAC(row.blob(0)) == link.mac
    }

    func restore(_ mark: AuditHead, after error: any Error) {
        head = mark
        note(error)
    }

    /// Remembers what SQLite reported last, for the case that it has given up the transaction.
    func note(_ error: any Error) { failure = error as? StoreError ?? failure }

    var notedFailure: StoreError? { failure }

    /// Why the transaction is gone.
    var lostTransaction: StoreError { failure ?? StoreError(.io(0), "the transaction was given up") }

    func now() -> Timestamp { context.clock() }

    /// Crypto errors of sealing: they concern what was given, not what is stored.
    func sealing<R>(_ body: () throws(VaultCryptoError) -> R) throws(StoreError) -> R {
        do throws(VaultCryptoError) {
            return try body()
        } catch {
            switch error.code {
            case .outOfGuardedMemory, .outOfMemory:
                throw StoreError(.outOfMemory, error.reason, hint: error.hint)
            default:
                throw StoreError(.invalidValue, error.reason, hint: error.hint)
            }
        }
    }
}
