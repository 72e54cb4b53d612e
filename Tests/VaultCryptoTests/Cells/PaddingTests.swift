import CSodium
import Testing

@testable import VaultCrypto

struct PaddingTests {
    private static func unpadded(_ block: [UInt8]) -> Int? {
        unsafe block.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            return unsafe SealedCell.unpaddedCount(start, bytes.count)
        }
    }

    @Test func everyLengthIsFoundAgainAsLibsodiumFindsIt() {
        for count in 0..<1_024 {
            var buffer = [UInt8](repeating: 0x80, count: count) + [UInt8](repeating: 0, count: 128)
            var padded = 0
            let status = unsafe sodium_pad(&padded, &buffer, count, 128, buffer.count)
            #expect(status == 0 && Self.unpadded(Array(buffer.prefix(padded))) == count)
        }
    }

    @Test func aBlockWithoutItsMarkIsNoPadding() {
        #expect(Self.unpadded([UInt8](repeating: 0, count: 128)) == nil)
        #expect(Self.unpadded([0x80] + [UInt8](repeating: 0, count: 255)) == nil)
        for offset in 0..<128 {
            for mark in [0x01, 0x7F, 0x81, 0xFF] as [UInt8] {
                var block = [UInt8](repeating: 0, count: 128)
                block[offset] = mark
                #expect(Self.unpadded(block) == nil)
            }
        }
    }

    @Test func anAuthenticCellWithoutPaddingIsRefused() throws {
        let key = try Cells.key()
        var cell = try Cells.seal([1, 2, 3], key: key, at: Cells.place())
        unsafe cell.withUnsafeMutableBytes { cell in
            guard let start = cell.baseAddress else { return }
            var work = [UInt8](repeating: 0, count: SealedCell.workByteCount)
            unsafe work.withUnsafeMutableBytes { work in
                guard let derived = work.baseAddress else { return }
                unsafe SealedCell.derive(
                    key: key.pointer, cell: start, associatedData: Cells.place(), work: derived + 64, output: derived)
                _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                    (start + 80).u8, nil, [UInt8](repeating: 0, count: 128), 128, nil, 0, nil, (start + 24).u8,
                    derived.u8)
            }
        }
        #expect(Cells.defect(of: cell, key: key, at: Cells.place()) == .malformedPadding)
    }
}
