import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite

@testable import VaultStorage

/// Every engine gives the same answer to every query, and refuses the same changes.
struct QueryConformanceTests {
    private static let programs = Depth.pick(brief: 40, nightly: 400, deep: 4_000)
    private static let steps = 120

    @Test func randomProgramsComeToTheSame() throws {
        var counts = Counts()
        for seed in 1...UInt64(Self.programs) {
            var program = Program(seed: seed)
            let engines: [any TestedEngine] = [try SQLiteEngine(), try MemoryEngine(), try PostgreSQLEngine()]
            for step in 1...Self.steps {
                let action = program.next()
                let outcomes = engines.map { action.run(on: $0) }
                try #require(
                    outcomes.allSatisfy { $0 == outcomes[0] }, "seed \(seed), step \(step): \(action): \(outcomes)",
                    sourceLocation: #_sourceLocation)
                counts.note(outcomes[0])
            }
        }
        print("conformance: \(Self.programs) programs, \(counts)")
        #expect(counts.rows > 12 * Self.programs)
        #expect(counts.refused > 12 * Self.programs)
        #expect(counts.changed > 12 * Self.programs)
    }

    private struct Counts: CustomStringConvertible {
        var rows = 0
        var changed = 0
        var refused = 0

        mutating func note(_ outcome: Outcome) {
            switch outcome {
            case .answer(let rows): self.rows += rows.count
            case .changed(let count, _, _): changed += count
            case .refused: refused += 1
            }
        }

        var description: String { "\(rows) rows read, \(changed) changed, \(refused) changes refused" }
    }
}

/// What became of one query.
enum Outcome: Equatable {
    /// The rows, as text, and sorted if the query sets no order.
    case answer([String])
    case changed(Int, lastRow: Int64, highestFence: Int64)
    case refused(StoreError.Code)
}

/// A query with its parameters.
struct Action: CustomStringConvertible {
    enum Parameter {
        case null
        case integer(Int64)
        case bytes([UInt8])
        case text(String)
    }

    let query: Query
    let parameters: [Parameter]

    var description: String { "\(query.sql) with \(parameters)" }

    func run(on engine: any TestedEngine) -> Outcome {
        do {
            guard case .select(let selection) = query.operation else { return try engine.write(change) }
            let rows = try answer(engine.reader, selection.output.map(\.type))
            return .answer(selection.order.isEmpty ? rows.sorted() : rows)
        } catch {
            return .refused((error as? StoreError)?.code ?? .closed)
        }
    }

    private func bind(_ cursor: any RowCursor) {
        for (index, parameter) in zip(Int32(1)..., parameters) {
            switch parameter {
            case .null: cursor.bindNull(index)
            case .integer(let value): cursor.bind(index, value)
            case .bytes(let bytes): cursor.bind(index, bytes)
            case .text(let text): cursor.bind(index, text)
            }
        }
    }

    private func change(_ tables: any TableAccess) throws -> Outcome {
        let cursor = try tables.cursor(query)
        bind(cursor)
        try cursor.run()
        let isInsert = if case .insert(_, _, .fails) = query.operation { true } else { false }
        return .changed(
            tables.changeCount, lastRow: isInsert ? tables.lastInsertedRow : 0,
            highestFence: try tables.highestFence())
    }

    private func answer(_ tables: any TableAccess, _ types: [Table.FieldType]) throws -> [String] {
        let cursor = try tables.cursor(query)
        defer { cursor.reset() }
        bind(cursor)
        var rows: [String] = []
        while try cursor.step() {
            let values = zip(Int32(0)..., types).map { column, type in
                if cursor.isNull(column) { return "-" }
                return switch type {
                case .integer: "\(cursor.integer(column))"
                case .bytes: "\(cursor.bytes(column)) \(cursor.bytes16(column) == nil)"
                case .text: "\(Array(cursor.text(column).utf8))"
                }
            }
            rows.append(values.joined(separator: " "))
        }
        return rows
    }
}

extension Query.Output {
    fileprivate var type: Table.FieldType {
        guard case .column(let column) = self else { return .integer }
        return column.table.fields.first { $0.name == column.name }?.type ?? .integer
    }
}
