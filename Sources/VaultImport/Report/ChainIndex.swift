import OAuthClient
import VaultCrypto

/// Which chains and accounts have been met, and on which row: 24 bytes each, in a table that is at least 7/16 full, and
/// nothing of the tokens.
struct ChainIndex {
    private var slots: [Slot]
    private var count = 0
    private let fingerprint: ChainFingerprint

    private struct Slot {
        var name: Bytes16
        /// Zero for an empty slot.
        var row: UInt32
        /// Seconds since 1970, for telling the newer of two.
        var moment: UInt32
    }

    struct Met: Equatable {
        let row: Int
        let isNewer: Bool
    }

    init() throws(ImportError) {
        do throws(VaultCryptoError) { fingerprint = try ChainFingerprint() } catch {
            throw ImportError(.unreadableFile, "there is no memory for a key")
        }
        slots = Array(repeating: Slot(name: .zero, row: 0, moment: 0), count: 1_024)
    }

    /// The first eight hexadecimal digits of a fingerprint, for reports.
    func short(_ text: String) -> String {
        Hex.encode(fingerprint(of: text).array.prefix(4))
    }

    /// Notes a name with the row and the moment of its tokens. If it was met before: where, and whether this one is newer
    /// and takes that row's place. Later rows are newer than earlier ones of the same moment.
    mutating func meet(_ text: String, row: Int, moment: Int64) -> Met? {
        let name = fingerprint(of: text)
        let moment = UInt32(clamping: moment)
        var index = place(of: name)
        if slots[index].row != 0 {
            let known = slots[index]
            let isNewer = moment >= known.moment
            if isNewer { slots[index].moment = moment }
            return Met(row: Int(known.row), isNewer: isNewer)
        }
        if count * 8 >= slots.count * 7 {
            grow()
            index = place(of: name)
        }
        slots[index] = Slot(name: name, row: UInt32(clamping: row), moment: moment)
        count += 1
        return nil
    }

    private func place(of name: Bytes16) -> Int {
        var index = Int(truncatingIfNeeded: name.firstWord) & (slots.count - 1)
        while slots[index].row != 0, slots[index].name != name { index = (index + 1) & (slots.count - 1) }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(name: .zero, row: 0, moment: 0), count: old.count * 2)
        for slot in old where slot.row != 0 { slots[place(of: slot.name)] = slot }
    }
}
