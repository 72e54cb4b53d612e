package import VaultCrypto

/// A query with its parameters, and the current row of its result set. One thread uses it at a time.
///
/// A parameter that an engine cannot accept is an error of the next step, so a query never runs with other values than
/// it was given. The value of a column that holds another type than the requested one is undefined.
package protocol RowCursor: AnyObject {
    /// Whether there is another row. The first step runs a query that changes rows.
    func step() throws(StoreError) -> Bool
    /// Ends the result set and makes the query ready for its next use. The parameters stay.
    func reset()

    func bind(_ parameter: Int32, _ value: Int64)
    func bindNull(_ parameter: Int32)
    func bind(_ parameter: Int32, _ text: String)
    func bind(_ parameter: Int32, copying bytes: UnsafeRawBufferPointer)
    /// The bytes must stay in place until the parameter is bound again.
    func bind(_ parameter: Int32, borrowing bytes: UnsafeRawBufferPointer)

    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) -> Int64
    func text(_ column: Int32) -> String
    /// Valid until the next step or reset.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer

    /// The plaintext of the current row's user cell, if the row is kept in memory and the cell was opened before.
    var openUserCell: GuardedCopy? { get }
    /// Keeps the plaintext of the current row's user cell for as long as the row is kept in memory.
    func keepUserCell(_ plaintext: UnsafeRawBufferPointer)
}

extension RowCursor {
    package var openUserCell: GuardedCopy? { nil }
    package func keepUserCell(_ plaintext: UnsafeRawBufferPointer) {}

    /// Runs a query without a result set, and makes it ready for its next use.
    package func run() throws(StoreError) {
        defer { reset() }
        while try step() {}
    }

    /// Runs it with bytes that are not copied, whatever their length.
    package func run(_ parameter: Int32, borrowing bytes: [UInt8]) throws(StoreError) {
        let result: Result<Void, StoreError> = unsafe bytes.withUnsafeBytes { bytes in
            unsafe bind(parameter, borrowing: bytes)
            defer { bindNull(parameter) }
            do throws(StoreError) { return .success(try run()) } catch { return .failure(error) }
        }
        try result.get()
    }

    package func bind(_ parameter: Int32, _ value: Int64?) {
        if let value { bind(parameter, value) } else { bindNull(parameter) }
    }

    package func bind(_ parameter: Int32, _ value: Bytes16) {
        unsafe value.withUnsafeBytes { unsafe bind(parameter, copying: $0) }
    }

    package func bind(_ parameter: Int32, _ value: Bytes16?) {
        if let value { bind(parameter, value) } else { bindNull(parameter) }
    }

    package func bind(_ parameter: Int32, _ value: [UInt8]) {
        unsafe value.withUnsafeBytes { unsafe bind(parameter, copying: $0) }
    }

    package func bind(_ parameter: Int32, _ value: [UInt8]?) {
        if let value { bind(parameter, value) } else { bindNull(parameter) }
    }

    /// Binds the parameter, and ends the result set after `body`.
    package func withBinding<R>(
        _ parameter: Int32, _ value: Int64, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        bind(parameter, value)
        defer { reset() }
        return try body()
    }

    /// Binds bytes without copying them, for as long as `body` runs.
    @inline(__always)
    package func withBinding<R>(
        _ parameter: Int32, _ value: Bytes16, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let value = value
        let result: Result<R, StoreError> = unsafe value.withUnsafeBytes { bytes in
            unsafe bind(parameter, borrowing: bytes)
            defer {
                reset()
                bindNull(parameter)
            }
            do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    package func bytes(_ column: Int32) -> [UInt8] { unsafe [UInt8](blob(column)) }

    /// `nil` if the column does not hold 16 bytes.
    package func bytes16(_ column: Int32) -> Bytes16? { unsafe Bytes16(blob(column)) }
}
