import FoundationEssentials
import OAuthClient
import VaultCrypto

/// Which chains and accounts have been met, and on which row: 24 bytes each, in a table that is at least 7/16 full, and
/// nothing of the tokens.
struct ChainIndex {
    private var slots: [Slot]
    private var count = 0
    private let fingerprint: ChainFingerprint

    private struct Slot {
        var name: UInt64
        /// Zero for an empty slot.
        var row: UInt32
        /// Seconds since 1970; zero if it is not known when the tokens were issued.
        var moment: UInt32
        var owner: UInt32
        var tokens: UInt32
    }

    /// A row that names a chain or an account.
    struct Visit {
        let row: UInt32
        let moment: UInt32
        let owner: UInt32
        let tokens: UInt32

        /// - Parameters:
        ///   - moment: when the tokens were issued, if that is known.
        ///   - owner: whose chain it is.
        ///   - tokens: those of the row.
        init(row: Int, moment: Date?, owner: [String?], tokens: [String?]) {
            self.row = UInt32(clamping: row)
            self.moment = moment.map { UInt32(clamping: Int64($0.timeIntervalSince1970)) } ?? 0
            self.owner = Self.hash(owner)
            self.tokens = Self.hash(tokens)
        }

        private static func hash(_ parts: [String?]) -> UInt32 {
            var hasher = Hasher()
            hasher.combine(parts)
            return UInt32(truncatingIfNeeded: hasher.finalize())
        }
    }

    struct Met: Equatable {
        let row: Int
        /// Whether this row takes the earlier one's place: its tokens were issued later, or, where one of the two does
        /// not say when, it comes later in the source. Expiries say nothing about that.
        let isNewer: Bool
        /// Whether the chain is one of the same user and account.
        let isSameOwner: Bool
        /// Whether it has the very tokens.
        let isRepeat: Bool
    }

    init() throws(ImportError) {
        do throws(VaultCryptoError) { fingerprint = try ChainFingerprint() } catch {
            throw ImportError(.unreadableFile, "there is no memory for a key")
        }
        slots = Array(repeating: Slot(name: 0, row: 0, moment: 0, owner: 0, tokens: 0), count: 1_024)
    }

    /// The first eight hexadecimal digits of a fingerprint, for reports.
    func short(_ text: String) -> String {
        Hex.encode(fingerprint(of: text).array.prefix(4))
    }

    /// Notes a name with its row. If it was met before: where, and what the two rows are to each other.
    mutating func meet(_ text: String, _ visit: Visit) -> Met? {
        let name = fingerprint(of: text).firstWord
        var index = place(of: name)
        if slots[index].row != 0 { return meet(visit, at: index) }
        if count * 8 >= slots.count * 7 {
            grow()
            index = place(of: name)
        }
        slots[index] = Slot(
            name: name, row: visit.row, moment: visit.moment, owner: visit.owner, tokens: visit.tokens)
        count += 1
        return nil
    }

    private mutating func meet(_ visit: Visit, at index: Int) -> Met {
        let known = slots[index]
        let isNewer = known.moment == 0 || visit.moment == 0 || visit.moment >= known.moment
        let met = Met(
            row: Int(known.row), isNewer: isNewer, isSameOwner: visit.owner == known.owner,
            isRepeat: visit.owner == known.owner && visit.tokens == known.tokens)
        if isNewer, met.isSameOwner {
            slots[index].moment = visit.moment
            slots[index].tokens = visit.tokens
        }
        return met
    }

    private func place(of name: UInt64) -> Int {
        var index = Int(truncatingIfNeeded: name) & (slots.count - 1)
        while slots[index].row != 0, slots[index].name != name { index = (index + 1) & (slots.count - 1) }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(name: 0, row: 0, moment: 0, owner: 0, tokens: 0), count: old.count * 2)
        for slot in old where slot.row != 0 { slots[place(of: slot.name)] = slot }
    }
}
