import Testing
import VaultCrypto

struct SealedCellTests {
    @Test(arguments: [0, 1, 126, 127, 128, 129, 1_000, 32 * 1024, 100_000])
    func whatWasSealedOpens(count: Int) throws {
        let key = try SealingKey.generate()
        let plaintext = SecureRandom.bytes(count)
        let cell = try Cells.seal(plaintext, key: key, at: Cells.place())
        #expect(cell.count == SealedCell.byteCount(forPlaintext: count))
        #expect((cell.count - SealedCell.overhead).isMultiple(of: 128))
        #expect(try Cells.open(cell, key: key, at: Cells.place()) == plaintext)
    }

    @Test func theSameSecretIsNeverSealedTheSameWayTwice() throws {
        let key = try SealingKey.generate()
        let nonces = try (0..<1_000).map { _ in
            try Array(Cells.seal([1], key: key, at: Cells.place())[24..<48])
        }
        #expect(Set(nonces).count == nonces.count)
    }

    @Test func aCellOpensOnlyInItsPlace() throws {
        let key = try SealingKey.generate()
        let cell = try Cells.seal([1], key: key, at: Cells.place(1))
        #expect(Cells.defect(of: cell, key: key, at: Cells.place(2)) == .authenticationFailed(.commitment))
        var longer = Cells.place(1)
        longer.appendNil()
        #expect(Cells.defect(of: cell, key: key, at: longer) == .authenticationFailed(.commitment))
    }

    @Test func aCellOpensOnlyWithItsKey() throws {
        let cell = try Cells.seal([1], key: Cells.key(7, id: 1), at: Cells.place())
        let sameID = try Cells.key(8, id: 1)
        let sameBytes = try Cells.key(7, id: 2)
        #expect(Cells.defect(of: cell, key: sameID, at: Cells.place()) == .authenticationFailed(.commitment))
        #expect(Cells.defect(of: cell, key: sameBytes, at: Cells.place()) == .unknownKey)
    }

    @Test func aCellIsOfOneKindOnly() throws {
        let key = try SealingKey.generate()
        for kind in CellKind.allCases {
            let cell = try Cells.seal([1], kind: kind, key: key, at: Cells.place())
            for asked in CellKind.allCases {
                let expected: VaultCryptoError.Code? = asked == kind ? nil : .wrongKind
                #expect(Cells.defect(of: cell, kind: asked, key: key, at: Cells.place()) == expected)
            }
        }
    }

    @Test func associatedDataThatDoesNotFitIsRefused() throws {
        let key = try SealingKey.generate()
        let cell = try Cells.seal([1], key: key, at: Cells.place())
        var tooLong = Cells.place()
        tooLong.append(bytes: [UInt8](repeating: 0, count: AssociatedData.capacity))
        #expect(Cells.defect(of: cell, key: key, at: tooLong) == .associatedDataTooLong)
        #expect(throws: VaultCryptoError.self) { try Cells.seal([1], key: key, at: tooLong) }
    }

    @Test func aDataKeyInAnOpenCellOpensTheNextCell() throws {
        let root = try SealingKey.generate()
        let dataKey = try SealingKey.generate()
        var record = RecordWriter()
        record.append(1, dataKey)
        let userCell = try SealedCell.seal(record, kind: .user, key: root, associatedData: Cells.place(1))
        let sessionCell = try Cells.seal([42], key: dataKey, at: Cells.place(2))
        let scratch = try CellScratch()
        let plaintext = try unsafe userCell.withUnsafeBytes { userCell in
            try unsafe SealedCell.open(
                userCell, kind: .user, key: root, associatedData: Cells.place(1), scratch: scratch
            ) { record in
                var reader = unsafe RecordReader(record)
                let key = try unsafe #require(try reader.next()).keyBytes()
                return try unsafe sessionCell.withUnsafeBytes { sessionCell in
                    try unsafe SealedCell.open(
                        sessionCell, kind: .session, key: key, keyID: dataKey.id, associatedData: Cells.place(2),
                        scratch: scratch
                    ) { unsafe [UInt8]($0) }
                }
            }
        }
        #expect(plaintext == [42])
    }

    @Test func aKeyOfTheWrongLengthIsRefused() throws {
        let cell = try Cells.seal([42], key: .generate(), at: Cells.place())
        let scratch = try CellScratch()
        #expect(throws: VaultCryptoError.self) {
            try unsafe cell.withUnsafeBytes { cell in
                try unsafe SealedCell.open(
                    cell, kind: .session, key: UnsafeRawBufferPointer(rebasing: cell[..<31]), keyID: .random(),
                    associatedData: Cells.place(), scratch: scratch
                ) { _ in }
            }
        }
    }

    @Test func theTagStandsForTheCell() throws {
        let cell = try Cells.seal([1], key: .generate(), at: Cells.place())
        #expect(try SealedCell.tag(of: cell).bytes.array == Array(cell.suffix(16)))
        #expect(throws: VaultCryptoError.self) { try SealedCell.tag(of: [1, 2, 3]) }
    }
}
