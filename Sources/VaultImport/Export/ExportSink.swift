/// Receives exported logins: a file, or your own system.
///
/// ```swift
/// struct OldSystem: ExportSink {
///     let name = "old-system"
///
///     mutating func refusal(of login: ExportedLogin) -> ExportRefusal? { login.dpopKey == nil ? nil : .keyBound }
///
///     mutating func write(_ login: ExportedLogin) async throws { try await put(login.userId, login.refreshToken) }
///
///     mutating func finish() async throws {}
/// }
/// ```
public protocol ExportSink {
    /// The name for the audit trail, a single word like that of a shape.
    var name: String { get }

    /// The reason why this login cannot be stored; nil if it can. Called before anything is done to the login.
    mutating func refusal(of login: ExportedLogin) throws -> ExportRefusal?

    /// Stores a login. The vault no longer renews it, unless it is a copy.
    mutating func write(_ login: ExportedLogin) async throws

    /// Called once, after the last login. If it throws, nothing counts as exported.
    mutating func finish() async throws
}

/// Writes logins in a shape. The output contains plaintext tokens: ``SealedExport`` seals it.
public struct ShapedExport: ExportSink {
    public let shape: ExportShape
    private let encoder: any ShapeEncoder
    private let output: ([UInt8]) throws -> Void
    private var rows: ChainIndex
    private var count = 0

    /// - Parameters:
    ///   - shape: The format.
    ///   - output: Receives the bytes, piece by piece.
    /// - Throws: ``ExportError``.
    public init(_ shape: ExportShape, to output: @escaping ([UInt8]) throws -> Void) throws {
        self.shape = shape
        self.output = output
        encoder = shape.encoder
        do throws(ImportError) { rows = try ChainIndex() } catch { throw ExportError(.notWritten, error.message) }
    }

    public var name: String { shape.name }

    public mutating func refusal(of login: ExportedLogin) -> ExportRefusal? {
        if login.resource != nil, shape != .canonical { return .resourceBound }
        if let refusal = encoder.refusal(of: login) { return refusal }
        let name = encoder.rowName(of: login)
        guard !name.isEmpty else { return nil }
        count += 1
        let visit = ChainIndex.Visit(row: count, moment: nil, owner: [], tokens: [])
        let isTaken = rows.meet(name.map { "\($0.utf8.count):\($0)" }.joined(), visit) != nil
        return isTaken ? .secondLogin : nil
    }

    private var hasBegun = false

    private mutating func begin() throws {
        guard !hasBegun else { return }
        hasBegun = true
        try write(encoder.opening)
    }

    public mutating func write(_ login: ExportedLogin) throws {
        try begin()
        try write(encoder.text(of: login))
    }

    public mutating func finish() throws {
        try begin()
        try write(encoder.closing)
    }

    private func write(_ text: String) throws {
        if !text.isEmpty { try output(Array(text.utf8)) }
    }
}
