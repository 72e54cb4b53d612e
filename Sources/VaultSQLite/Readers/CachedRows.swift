import Synchronization
import VaultCrypto
import VaultStorage

/// The rows of a result set as the database holds them: plaintext columns, and sealed cells. Only the cell of their user,
/// which has no token, stays open after its first use.
@safe final class CachedRows: @unchecked Sendable {
    /// A user with more is read from the database each time.
    static let mostBytes = 8 * 1024
    static let mostRows = 4

    fileprivate struct Column {
        static let null: Int32 = -1
        static let number: Int32 = -2

        /// Of the bytes; otherwise what kind of column it is.
        var count: Int32
        var offset: Int32
        var number: Int64
    }

    let count: Int
    private let columnCount: Int
    private let columns: [Column]
    private let bytes: UnsafeRawBufferPointer
    private let userCell = AtomicLazyReference<GuardedCopy>()

    private init(_ builder: borrowing Builder) {
        count = builder.count
        columnCount = builder.columnCount
        columns = builder.columns
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: builder.bytes.count, alignment: 16)
        unsafe copy.copyBytes(from: builder.bytes)
        unsafe bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { unsafe bytes.deallocate() }

    private func column(_ row: Int, _ column: Int32) -> Column? {
        let index = row * columnCount + Int(column)
        return index < columns.count ? columns[index] : nil
    }

    func isNull(_ row: Int, _ column: Int32) -> Bool { self.column(row, column)?.count ?? Column.null == Column.null }

    func integer(_ row: Int, _ column: Int32) -> Int64 { self.column(row, column)?.number ?? 0 }

    /// Valid as long as these rows are.
    func blob(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
        guard let column = self.column(row, column), column.count > 0 else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let start = Int(column.offset)
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(column.count)])
    }

    /// All rows are of one user.
    var openUserCell: GuardedCopy? { userCell.load() }

    func keepUserCell(_ plaintext: UnsafeRawBufferPointer) {
        guard let copy = unsafe GuardedCopy(plaintext) else { return }
        _ = userCell.storeIfNil(copy)
    }

    struct Builder {
        fileprivate let columnCount: Int
        fileprivate var count = 0
        fileprivate var columns: [Column] = []
        fileprivate var bytes: [UInt8] = []

        init(columnCount: Int) { self.columnCount = columnCount }

        /// False: it is too much, or of a type that no row of these has.
        mutating func add(_ row: Statement) -> Bool {
            guard count < CachedRows.mostRows else { return false }
            count += 1
            for index in 0..<Int32(columnCount) {
                switch row.storageClass(index) {
                case .null: columns.append(Column(count: Column.null, offset: 0, number: 0))
                case .integer: columns.append(Column(count: Column.number, offset: 0, number: row.integer(index)))
                case .blob:
                    let cell = unsafe row.blob(index)
                    guard bytes.count + cell.count <= CachedRows.mostBytes else { return false }
                    columns.append(Column(count: Int32(cell.count), offset: Int32(bytes.count), number: 0))
                    unsafe bytes.append(contentsOf: cell)
                case .other: return false
                }
            }
            return true
        }

        func finish() -> CachedRows { CachedRows(self) }
    }
}
