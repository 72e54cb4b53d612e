/// Takes exported logins: a file, or a system of your own.
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
    /// For the audit trail: a word such as that of a shape.
    var name: String { get }

    /// Why there is no place for this login; nil if there is one. Asked before anything is done to the login.
    mutating func refusal(of login: ExportedLogin) throws -> ExportRefusal?

    /// Takes a login. The vault no longer renews it, unless it is copied.
    mutating func write(_ login: ExportedLogin) async throws

    /// Called once, after the last login. If it throws, nothing counts as exported.
    mutating func finish() async throws
}

/// Writes logins in a shape. What it writes holds tokens in the clear: ``SealedExport`` seals it.
public struct ShapedExport: ExportSink {
    public let shape: ExportShape
    private let encoder: any ShapeEncoder
    private let output: ([UInt8]) throws -> Void
    private var rows: ChainIndex
    private var count = 0

    /// - Parameters:
    ///   - shape: In which form.
    ///   - output: Gets the bytes, piece by piece.
    /// - Throws: ``ExportError``.
    public init(_ shape: ExportShape, to output: @escaping ([UInt8]) throws -> Void) throws {
        self.shape = shape
        self.output = output
        encoder = shape.encoder
        do throws(ImportError) { rows = try ChainIndex() } catch { throw ExportError(.notWritten, error.message) }
    }

    public var name: String { shape.name }

    public mutating func refusal(of login: ExportedLogin) -> ExportRefusal? {
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
