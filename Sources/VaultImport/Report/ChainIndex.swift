import FoundationEssentials
import OAuthClient
import VaultCrypto

/// The chains and accounts seen so far, and their rows: 24 bytes each, and nothing of the tokens.
struct ChainIndex {
    private var slots = NameTable<Slot>()
    private let fingerprint: ChainFingerprint

    private struct Slot: NamedSlot {
        var hash: UInt64
        /// Zero for an empty slot.
        var row: UInt32
        /// Seconds since 1970; zero if it is unknown when the tokens were issued.
        var moment: UInt32
        var owner: UInt32
        var tokens: UInt32

        static var empty: Slot { Slot(hash: 0, row: 0, moment: 0, owner: 0, tokens: 0) }
        var isEmpty: Bool { row == 0 }
        func hasName(of other: Slot) -> Bool { hash == other.hash }
    }

    /// A row that names a chain or an account.
    struct Visit {
        let row: UInt32
        let moment: UInt32
        let owner: UInt32
        let tokens: UInt32

        /// - Parameters:
        ///   - moment: when the tokens were issued, if known.
        ///   - owner: the owner of the chain.
        ///   - tokens: the tokens of the row.
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
        /// Whether this row replaces the earlier one: its tokens were issued later, or, if one of the two does not say
        /// when, it comes later in the source. Expiries are no evidence.
        let isNewer: Bool
        /// Whether the chain belongs to the same user and account.
        let isSameOwner: Bool
        /// Whether it has exactly the same tokens.
        let isRepeat: Bool
    }

    init() throws(ImportError) {
        do throws(VaultCryptoError) { fingerprint = try ChainFingerprint() } catch {
            throw ImportError(.unreadableFile, "there is no memory for a key")
        }
    }

    /// The first eight hexadecimal digits of a fingerprint, for reports.
    func short(_ text: String) -> String {
        Hex.encode(fingerprint(of: text).array.prefix(4))
    }

    /// Records a name with its row. If it was seen before, returns where, and how the two rows are related.
    mutating func meet(_ text: String, _ visit: Visit) -> Met? {
        let slot = Slot(
            hash: fingerprint(of: text).firstWord, row: visit.row, moment: visit.moment, owner: visit.owner,
            tokens: visit.tokens)
        return slots.meet(slot) { known in
            let isNewer = known.moment == 0 || visit.moment == 0 || visit.moment >= known.moment
            let met = Met(
                row: Int(known.row), isNewer: isNewer, isSameOwner: visit.owner == known.owner,
                isRepeat: visit.owner == known.owner && visit.tokens == known.tokens)
            if isNewer, met.isSameOwner {
                known.moment = visit.moment
                known.tokens = visit.tokens
            }
            return met
        }
    }
}
