import Testing

@testable import VaultCrypto

struct RecordTests {
    private static func read(_ bytes: [UInt8]) throws(VaultCryptoError) -> [UInt8: [UInt8]] {
        try unsafe bytes.withBytes { bytes throws(VaultCryptoError) in
            var reader = unsafe RecordReader(bytes)
            var fields: [UInt8: [UInt8]] = [:]
            while let field = try reader.next() { unsafe fields[field.tag] = [UInt8](field.bytes) }
            return fields
        }
    }

    private static func code(_ body: () throws(VaultCryptoError) -> Void) -> VaultCryptoError.Code? {
        do throws(VaultCryptoError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    private static func sample() -> [UInt8] {
        var writer = RecordWriter(capacity: 16)
        writer.append(1, "text")
        writer.append(2, Int64(-5))
        writer.append(3, nil as String?)
        writer.append(4, SecretBytes(utf8: String(repeating: "s", count: 5_000)))
        writer.append(128, true)
        return unsafe [UInt8](writer.bytes)
    }

    @Test func whatWasWrittenIsRead() throws {
        let fields = try Self.read(Self.sample())
        #expect(fields.keys.sorted() == [1, 2, 4, 128])
        #expect(fields[1] == Array("text".utf8))
        #expect(fields[2] == [0xFB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(fields[4]?.count == 5_000)
        #expect(fields[128] == [1])
        #expect(try Self.read([]).isEmpty)
    }

    @Test func aRecordCutAnywhereInsideAFieldIsRefused() throws {
        let whole = Self.sample()
        let ends = [0, 6, 16, 5_019, whole.count]
        for count in whole.indices where !ends.contains(count) {
            #expect(
                Self.code { () throws(VaultCryptoError) in _ = try Self.read(Array(whole.prefix(count))) }
                    == .malformedRecord, "\(count)")
        }
    }

    @Test(
        arguments: [
            [1, 1, 9, 1, 1, 9], [2, 0, 1, 0], [0, 0], [1, 0, 0], [1, 0x80, 0], [1, 0x81, 0x00, 9],
            [1, 0x80, 0x80, 0x80, 0x80, 1], [1, 0xFF, 0xFF, 0xFF, 0x7F], [1], [1, 0x80], [1, 2, 9],
        ] as [[UInt8]])
    func bytesThatNoWriterWritesAreRefused(_ bytes: [UInt8]) {
        #expect(Self.code { () throws(VaultCryptoError) in _ = try Self.read(bytes) } == .malformedRecord)
    }

    @Test func randomBytesNeverTrap() {
        for _ in 0..<50_000 {
            let bytes = SecureRandom.bytes(Int.random(in: 0..<40)).map { $0 & 0x87 }
            _ = Self.code { () throws(VaultCryptoError) in _ = try Self.read(bytes) }
        }
    }

    @Test func contentsOfTheWrongLengthOrValueAreRefused() throws {
        var writer = RecordWriter()
        writer.append(1, "é!?")
        let bytes = unsafe [UInt8](writer.bytes)
        try unsafe bytes.withUnsafeBytes { bytes in
            var reader = unsafe RecordReader(bytes)
            let field = try #require(try reader.next())
            #expect(throws: VaultCryptoError.self) { try field.uint8() }
            #expect(throws: VaultCryptoError.self) { try field.int64() }
            #expect(throws: VaultCryptoError.self) { try field.bytes16() }
            #expect(throws: VaultCryptoError.self) { _ = try unsafe field.keyBytes() }
            #expect(throws: VaultCryptoError.self) { try field.bool() }
            #expect(try field.text() == "é!?")
        }
        for content in [[1, 1, 0xFF], [1, 1, 2]] as [[UInt8]] {
            try unsafe content.withUnsafeBytes { bytes in
                var reader = unsafe RecordReader(bytes)
                let field = try #require(try reader.next())
                #expect(throws: VaultCryptoError.self) { try field.bool() }
            }
        }
        try unsafe ([1, 2, 0xC3, 0x28] as [UInt8]).withUnsafeBytes { bytes in
            var reader = unsafe RecordReader(bytes)
            let field = try #require(try reader.next())
            #expect(throws: VaultCryptoError.self) { try field.text() }
        }
    }

    @Test func onlyUnknownMandatoryFieldsStopAReader() throws {
        for (tag, expected) in [(127, .unknownField), (128, nil)] as [(UInt8, VaultCryptoError.Code?)] {
            let bytes: [UInt8] = [tag, 0]
            let code = Self.code { () throws(VaultCryptoError) in
                try unsafe bytes.withBytes { bytes throws(VaultCryptoError) in
                    var reader = unsafe RecordReader(bytes)
                    if let field = try reader.next() { try field.ignoreIfOptional() }
                }
            }
            #expect(code == expected)
        }
    }

    @Test func listsKeepTheirElements() throws {
        var list = RecordList(capacity: 16)
        let elements = ["", "one", String(repeating: "x", count: 300)]
        for element in elements { list.append(element) }
        var writer = RecordWriter()
        writer.append(7, list: list)
        let bytes = unsafe [UInt8](writer.bytes)
        try unsafe bytes.withUnsafeBytes { bytes in
            var reader = unsafe RecordReader(bytes)
            var read = try #require(try reader.next()).elements()
            var texts: [String] = []
            while let element = try unsafe read.next() { unsafe texts.append(String(decoding: element, as: UTF8.self)) }
            #expect(texts == elements)
        }
    }
}
