import CPostgreSQL
import Platform
import VaultStorage

/// One connection to a server. Used by one thread at a time.
///
/// It sends commands without waiting for their answers (libpq's pipeline mode), and waits for them together. Every wait
/// has a limit. A connection that has exceeded its limit, or met a network error, is unusable.
@safe final class ServerConnection: @unchecked Sendable {
    /// How long the server may take for a command: longer than its own limit.
    static let timeLimit = Duration.seconds(15)
    private static let connecting = Duration.seconds(6)

    private let handle: OpaquePointer
    private let notices = Notices()
    let socket: Int32
    private let isEncrypted: Bool
    /// Commands that were sent and are not answered yet, in order.
    private var waiting: [Command] = []
    private var syncsAwaited = 0
    /// The number of waits for answers.
    private(set) var roundTrips = 0
    /// The maximum number of bytes that libpq may still hold unsent.
    private var unflushed = 0
    private static let mostUnflushed = 8_192
    /// The rough size of a command without its parameters.
    private static let overhead = 64
    /// Whether anything was sent since the last sync.
    private var hasUnsynced = false
    private var failure: ServerFailure?
    /// The failure of the open transaction. The server refuses everything after it for that reason alone (25P02).
    private var cause: ServerFailure?
    /// Prepared statements with their names on the server. They are retained, so that no other object can have the same
    /// identifier.
    private var prepared: [ObjectIdentifier: (name: String, statement: Statement)] = [:]
    private var lastName = 0
    private var isClosed = false
    /// The server's timeline; a connection does not outlive a change of it.
    private(set) var history: ServerTimeline?
    /// The reason why it can no longer be used.
    private(set) var end: StoreError?

    /// Connects, or throws within a few seconds.
    init(_ address: ServerAddress) throws(StoreError) {
        try address.requireTrustedRoots()
        let parameters = address.parameters
        guard let connection = unsafe Self.start(parameters) else {
            throw StoreError(.outOfMemory, "there is not enough memory to connect")
        }
        do throws(StoreError) {
            try unsafe Self.finish(connection, address, Deadline(Self.connecting))
            guard unsafe LibPQsetnonblocking(connection, 1) == 0, unsafe LibPQenterPipelineMode(connection) == 1 else {
                throw .unreachable
            }
        } catch {
            unsafe LibPQfinish(connection)
            throw error
        }
        unsafe handle = connection
        socket = unsafe LibPQsocket(connection)
        isEncrypted = unsafe LibPQsslInUse(connection) == 1
        // A child that keeps the socket open would make this process appear alive.
        ForkGuard.add(socket)
        unsafe notices.listen(on: handle)
    }

    deinit { close() }

    /// The session's number, as announced when it began.
    var announcedSession: Int64 { unsafe Int64(LibPQbackendPID(handle)) }

    func close() {
        // In a fork the connection is the parent's: even its end must not be reported to the server.
        if isClosed || ForkGuard.isForked { return }
        isClosed = true
        end = end ?? .closed
        ForkGuard.remove(socket)
        unsafe LibPQfinish(handle)
    }

    private static func start(_ parameters: [(keyword: String, value: String)]) -> OpaquePointer? {
        let keywords = CStringArray(parameters.map(\.keyword))
        let values = CStringArray(parameters.map(\.value))
        return unsafe keywords.withPointers { keywords in
            unsafe values.withPointers { values in unsafe LibPQconnectStartParams(keywords, values, 0) }
        }
    }

    private static func finish(
        _ connection: OpaquePointer, _ address: ServerAddress, _ deadline: Deadline
    ) throws(StoreError) {
        guard unsafe LibPQstatus(connection) != CONNECTION_BAD else { throw unsafe StoreError(refusalOf: connection) }
        guard let used = unsafe ConnectionOptions(usedBy: connection) else {
            throw StoreError(.outOfMemory, "there is not enough memory to connect")
        }
        try address.requireAsDecided(used)
        // Includes the server's codes, which are the same in every language.
        unsafe _ = LibPQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        var awaited = PGRES_POLLING_WRITING
        while awaited != PGRES_POLLING_OK {
            let events: DescriptorWait.Events = awaited == PGRES_POLLING_READING ? .readable : .writable
            guard try deadline.wait(for: unsafe LibPQsocket(connection), events) else { throw .unreachable }
            awaited = unsafe LibPQconnectPoll(connection)
            if awaited == PGRES_POLLING_FAILED { throw unsafe StoreError(refusalOf: connection) }
        }
    }

    /// Identifies the server.
    func identify() throws(StoreError) { history = try ServerTimeline(of: self) }

    // MARK: Sending

    /// Sends a command without waiting for its answer.
    @discardableResult
    func send(_ statement: Statement, _ parameters: Parameters = .init()) throws(StoreError) -> Command {
        try requireUsable()
        let name = statement.isKept ? try prepare(statement) : nil
        let count = Int32(statement.types.count)
        let sent = unsafe parameters.withPointers(statement.types.count) { values, lengths, formats in
            if let name { return unsafe LibPQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) }
            return unsafe LibPQsendQueryParams(
                handle, statement.sql, count, statement.types.map(\.oid), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lose(.unreachable) }
        hasUnsynced = true
        unflushed += parameters.byteCount + Self.overhead
        if unflushed >= Self.mostUnflushed { flush() }
        let command = Command()
        waiting.append(command)
        return command
    }

    private func prepare(_ statement: Statement) throws(StoreError) -> String {
        let key = ObjectIdentifier(statement)
        if let known = prepared[key] { return known.name }
        lastName += 1
        let name = "s\(lastName)"
        let sent = unsafe statement.types.map(\.oid).withUnsafeBufferPointer { types in
            unsafe LibPQsendPrepare(handle, name, statement.sql, Int32(types.count), types.baseAddress)
        }
        guard sent == 1 else { throw lose(.unreachable) }
        prepared[key] = (name, statement)
        hasUnsynced = true
        waiting.append(Command(preparing: statement))
        return name
    }

    /// Lets the server start on what was sent so far: it works while this process prepares the rest.
    private func flush() {
        unflushed = 0
        unsafe _ = LibPQflush(handle)
    }

    /// Lets the server complete what was sent, without waiting for that.
    func finishSoon() {
        guard end == nil, hasUnsynced else { return }
        guard unsafe LibPQpipelineSync(handle) == 1 else {
            _ = lose(.unreachable)
            return
        }
        syncsAwaited += 1
        hasUnsynced = false
        flush()
    }

    // MARK: Waiting

    /// Waits until everything that was sent is answered.
    ///
    /// - Throws: the failure of the first failed command; those after it were skipped.
    func sync(_ timeLimit: Duration = ServerConnection.timeLimit) throws(StoreError) {
        try requireUsable()
        finishSoon()
        let deadline = Deadline(timeLimit)
        if syncsAwaited > 0 { roundTrips += 1 }
        takeAnswers()
        while syncsAwaited > 0 {
            if let end { throw end }
            try pump(deadline)
        }
        defer { failure = nil }
        if let failure { throw failure.error }
    }

    /// Returns other sessions' notifications since the last call, including those still in the socket. Does not report
    /// a lost connection: the next call that needs it does.
    func takeNotifications() -> [String] {
        if end != nil || ForkGuard.isForked { return [] }
        unsafe _ = LibPQconsumeInput(handle)
        var payloads: [String] = []
        while let notification = unsafe LibPQnotifies(handle) {
            if let payload = unsafe notification.pointee.extra { payloads.append(unsafe String(cString: payload)) }
            unsafe LibPQfreemem(notification)
        }
        return payloads
    }

    /// Whether no answer is pending.
    var isSettled: Bool { syncsAwaited == 0 }

    /// Waits a millisecond for pending answers, and returns whether all have arrived. A failure shows in its command.
    func settleAtOnce() throws(StoreError) -> Bool {
        roundTrips += 1
        takeAnswers()
        while syncsAwaited > 0 {
            if let end { throw end }
            var wait = DescriptorWait(for: socket, .readable)
            guard let ready = try? wait.wait(milliseconds: 1), ready > 0 else { return false }
            try receive()
        }
        forgetFailure()
        if let end { throw end }
        return true
    }

    /// Whether nothing has failed in the open transaction, as far as the server has answered.
    var isUnharmed: Bool { end == nil && cause == nil }

    /// A new transaction, or the return to a savepoint, begins without failures.
    func forgetFailure() {
        failure = nil
        cause = nil
    }

    /// The command's result, once all is answered.
    func answer(to command: Command) throws(StoreError) -> ResultSet {
        if case .sent = command.state { try sync() }
        switch command.state {
        case .answered(let answer): return answer
        case .failed(let failure): throw failure.error
        case .sent, .skipped: throw StoreError(.io(0), "the database server did not run a command")
        }
    }

    /// Whether the server has issued a warning since the last call.
    func takeWarning() -> Bool { notices.take() }

    private func pump(_ deadline: Deadline) throws(StoreError) {
        let flushed = unsafe LibPQflush(handle)
        guard flushed >= 0 else { throw lose(.unreachable) }
        let events: DescriptorWait.Events = flushed == 1 ? [.readable, .writable] : .readable
        guard try deadline.wait(for: socket, events) else { throw lose(.unreachable) }
        try receive()
    }

    /// Receives pending data. Data that TLS has read from the socket beyond libpq's buffer shows on no socket: a record
    /// holds 16 KiB, and libpq takes at least 8 KiB at a time.
    private func receive() throws(StoreError) {
        for _ in 0..<(isEncrypted ? 3 : 1) {
            guard unsafe LibPQconsumeInput(handle) == 1 else { throw lose(.unreachable) }
            takeAnswers()
        }
    }

    /// Takes the answers that have arrived completely.
    private func takeAnswers() {
        while syncsAwaited > 0, end == nil, unsafe LibPQisBusy(handle) == 0 {
            guard let result = unsafe LibPQgetResult(handle) else {
                // The end of a command's answer: the next one's follows.
                if unsafe LibPQstatus(handle) == CONNECTION_BAD { _ = lose(.unreachable) }
                continue
            }
            unsafe note(result)
        }
    }

    private func note(_ result: OpaquePointer) {
        switch unsafe LibPQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            unsafe LibPQclear(result)
            syncsAwaited -= 1
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            let answer = unsafe ResultSet(result)
            take()?.answer(answer)
        case PGRES_PIPELINE_ABORTED:
            unsafe LibPQclear(result)
            forget(take())?.skip()
        default:
            let state =
                unsafe LibPQresultErrorField(result, Int32(UInt8(ascii: "C")))
                .map { unsafe String(cString: $0) } ?? ""
            unsafe LibPQclear(result)
            let met = state == "25P02" ? cause ?? ServerFailure(state: state) : ServerFailure(state: state)
            cause = cause ?? met
            forget(take())?.fail(met)
            if failure == nil { failure = met }
            // An empty state comes from libpq itself, when the connection is gone.
            if met.state.isEmpty || met.state.hasPrefix("57P") { _ = lose(.unreachable) }
        }
    }

    private func take() -> Command? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// A statement that was not prepared after all is prepared the next time.
    private func forget(_ command: Command?) -> Command? {
        if let statement = command?.prepared { prepared[ObjectIdentifier(statement)] = nil }
        return command
    }

    // MARK: The end

    private func requireUsable() throws(StoreError) {
        if ForkGuard.isForked { throw .ownershipLost }
        if let end { throw end }
    }

    private func lose(_ error: StoreError) -> StoreError {
        end = end ?? error
        return error
    }
}

/// The end of a wait.
struct Deadline {
    private let instant: SuspendingClock.Instant

    init(_ timeLimit: Duration) { instant = .now + timeLimit }

    /// Waits until the socket can be read or written; false if the deadline passes first.
    ///
    /// - Throws: if the work on this thread is cancelled.
    func wait(for socket: Int32, _ events: DescriptorWait.Events) throws(StoreError) -> Bool {
        while true {
            if BlockingWork.isCancelled { throw StoreError(.closed, "the operation was cancelled before its end") }
            let left = SuspendingClock.now.duration(to: instant)
            guard left > .zero, socket >= 0 else { return false }
            var wait = DescriptorWait(for: socket, events)
            let slice = min(left, .milliseconds(250))
            let milliseconds = Int32(clamping: slice.components.attoseconds / 1_000_000_000_000_000 + 1)
            guard let ready = try? wait.wait(milliseconds: milliseconds) else { return false }
            if ready > 0 { return true }
        }
    }
}

/// Receives the server's warnings. They are never printed, as libpq would do by default: they quote what was sent.
private final class Notices {
    private var hasWarning = false

    func listen(on connection: OpaquePointer) {
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe _ = LibPQsetNoticeReceiver(
            connection,
            { own, result in
                guard let own = unsafe own else { return }
                let state = unsafe LibPQresultErrorField(result, Int32(UInt8(ascii: "C")))
                    .map { unsafe String(cString: $0) }
                if state == "01000" {
                    unsafe Unmanaged<Notices>.fromOpaque(own).takeUnretainedValue().hasWarning = true
                }
            }, own)
    }

    func take() -> Bool {
        defer { hasWarning = false }
        return hasWarning
    }
}
