import Testing
import VaultCrypto

struct EnvelopeDefectTests {
    @Test func eachDefectOfACellHasItsExactError() throws {
        let key = try Cells.key(7, id: 1)
        let good = try Cells.seal([1, 2, 3], key: key, at: Cells.place())
        let other = try Cells.seal([4, 5, 6], kind: .refresh, key: Cells.key(8, id: 2), at: Cells.place(2))
        let defects = EnvelopeDefects(good: good, other: other).all
        for defect in defects {
            #expect(Cells.defect(of: defect.cell, key: key, at: Cells.place()) == defect.code, "\(defect.name)")
        }
        print("sealed cells: \(defects.count) envelope defects, each with its exact error")
        #expect(defects.count >= 6_000)
    }

    @Test func everyFlippedBitOfACellIsSeen() throws {
        let key = try Cells.key(7, id: 1)
        let good = try Cells.seal([UInt8](repeating: 5, count: 300), key: key, at: Cells.place())
        var count = 0
        for bit in 0..<(good.count * 8) {
            var cell = good
            cell[bit / 8] ^= 1 << (bit % 8)
            let isKnownKind = bit / 8 == 6 && CellKind(rawValue: cell[6]) != nil
            let expected = isKnownKind ? VaultCryptoError.Code.wrongKind : EnvelopeDefects.code(at: bit / 8)
            #expect(Cells.defect(of: cell, key: key, at: Cells.place()) == expected, "bit \(bit)")
            count += 1
        }
        print("sealed cells: \(count) flipped bits seen")
    }
}
