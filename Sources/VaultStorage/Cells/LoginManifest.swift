import VaultCrypto

/// The logins of a user in a write transaction: whole, or in parts. Only the requested parts are open.
struct LoginManifest {
    private struct Part {
        /// The part's tag in the user's cell; meaningless once the part has changed.
        var tag = CellTag(.zero)
        var count = 0
        /// The part's entries; nil if the part is not open.
        var entries: [ManifestEntry]?
        var hasChanged = false
    }

    /// The number of bits of a handle that select the part; nil if the manifest is whole.
    private(set) var bits: Int?
    /// The entries of a whole manifest.
    private var entries: [ManifestEntry] = []
    /// The parts of a divided manifest.
    private var parts: [Part] = []
    /// The number of parts that have rows in the vault.
    private(set) var storedParts: Int

    /// Creates the manifest of a user without logins.
    init() { storedParts = 0 }

    init(_ cell: UserCellView) {
        guard let named = cell.parts else {
            entries = cell.entries
            storedParts = 0
            return
        }
        bits = named.bits
        parts = (0..<named.count).map { Part(tag: named.tag(of: $0), count: named.loginCount(of: $0)) }
        storedParts = named.count
    }

    var count: Int { bits == nil ? entries.count : parts.reduce(0) { $0 + $1.count } }
    var partCount: Int { parts.count }

    /// All entries of a manifest that is whole.
    var whole: [ManifestEntry]? { bits == nil ? entries : nil }

    /// The approximate size in the user's cell, sufficient to reserve memory.
    var byteCountInUserCell: Int {
        bits == nil ? count * ManifestEntry.byteCount : parts.count * ManifestParts.byteCount
    }

    /// The parts as the user's cell names them.
    var encodedParts: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.count * ManifestParts.byteCount)
        for part in parts {
            bytes += part.tag.bytes.array
            let count = UInt16(clamping: part.count)
            bytes += [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
        }
        return bytes
    }

    // MARK: Parts

    /// The number of the part that names a login, or would name it.
    func part(of login: LoginHandle) -> Int { bits.map { login.part($0) } ?? 0 }

    func isOpen(_ number: Int) -> Bool { bits == nil || parts[number].entries != nil }
    func tag(of number: Int) -> CellTag { parts[number].tag }

    mutating func open(_ number: Int, _ entries: [ManifestEntry]) {
        parts[number].entries = entries
        parts[number].count = entries.count
    }

    /// The parts that must be sealed, with their numbers.
    var changed: [(number: Int, entries: [ManifestEntry])] {
        guard bits != nil else { return [] }
        return parts.indices.compactMap { number in
            parts[number].hasChanged ? parts[number].entries.map { (number, $0) } : nil
        }
    }

    mutating func noteSealed(_ number: Int, _ tag: CellTag) {
        parts[number].tag = tag
        parts[number].hasChanged = false
    }

    /// Notes that all rows match this manifest.
    mutating func noteStored() { storedParts = parts.count }

    /// Notes that everything must be resealed under another key.
    mutating func noteAllChanged() {
        for number in parts.indices { parts[number].hasChanged = true }
    }

    /// Replaces a part that does not open with an empty one.
    mutating func clear(_ number: Int) { parts[number] = Part(entries: [], hasChanged: true) }

    // MARK: Entries, of parts that are open

    func entry(of login: LoginHandle) -> ManifestEntry? {
        if bits == nil { return entries.first { $0.login == login } }
        return parts[part(of: login)].entries?.find(login)
    }

    /// The logins of the open parts, in no meaningful order.
    var logins: [LoginHandle] { (entries + parts.flatMap { $0.entries ?? [] }).map(\.login) }

    mutating func put(_ entry: ManifestEntry) {
        guard bits != nil else {
            // Entries of a whole manifest keep the order in which they were made.
            if let place = entries.firstIndex(where: { $0.login == entry.login }) {
                entries[place] = entry
            } else {
                entries.append(entry)
            }
            return
        }
        let number = part(of: entry.login)
        guard var entries = parts[number].entries else { return }
        parts[number].entries = nil
        let place = entries.place(of: entry.login)
        if place < entries.count, entries[place].login == entry.login {
            entries[place] = entry
        } else {
            entries.insert(entry, at: place)
        }
        parts[number].count = entries.count
        parts[number].entries = entries
        parts[number].hasChanged = true
    }

    mutating func remove(_ login: LoginHandle) {
        if bits == nil { return entries.removeAll { $0.login == login } }
        let number = part(of: login)
        parts[number].entries?.removeAll { $0.login == login }
        parts[number].count = parts[number].entries?.count ?? 0
        parts[number].hasChanged = true
    }

    // MARK: Cutting

    /// The number of bits for the number of logins. It stays the same unless there are too many or too few logins.
    func wantedBits(_ limits: ManifestLimits) -> Int? {
        let count = count
        guard let bits else { return count > limits.mostWhole ? 0 : nil }
        if count <= limits.mostWhole / 2 { return nil }
        if bits < ManifestParts.mostBits, parts.contains(where: { $0.count > limits.mostInPart }) { return bits + 1 }
        guard bits > 0, count < limits.fewestInPart << bits else { return bits }
        // Two joined parts must not have too many entries, or they would be cut again at once.
        let canJoin = stride(from: 0, to: parts.count, by: 2).allSatisfy {
            parts[$0].count + parts[$0 + 1].count <= limits.mostInPart
        }
        return canJoin ? bits - 1 : bits
    }

    /// Joins the parts into a whole manifest. All parts must be open.
    ///
    /// - Parameter order: the order in which the logins were made.
    mutating func join(inOrderOf order: [LoginHandle]) {
        let entries = parts.flatMap { $0.entries ?? [] }
        let places = Dictionary(zip(order, 0...), uniquingKeysWith: { first, _ in first })
        self.entries = entries.sorted { places[$0.login] ?? .max < places[$1.login] ?? .max }
        bits = nil
        parts = []
    }

    /// Cuts the manifest again, and further where a part would have too many entries. All parts must be open.
    mutating func cut(_ wanted: Int, _ limits: ManifestLimits) {
        var bits = wanted
        let all = entries + parts.flatMap { $0.entries ?? [] }
        entries = []
        let sorted = all.sorted { $0.login.bytes < $1.login.bytes }
        var cut = Self.cut(sorted, bits)
        while bits < ManifestParts.mostBits, cut.contains(where: { $0.count > limits.mostInPart }) {
            bits += 1
            cut = Self.cut(sorted, bits)
        }
        self.bits = bits
        parts = cut.map { Part(count: $0.count, entries: $0, hasChanged: true) }
    }

    private static func cut(_ sorted: [ManifestEntry], _ bits: Int) -> [[ManifestEntry]] {
        var parts = [[ManifestEntry]](repeating: [], count: 1 << bits)
        for entry in sorted { parts[entry.login.part(bits)].append(entry) }
        return parts
    }
}
