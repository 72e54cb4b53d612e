import VaultCrypto

/// The logins of a user as a write transaction holds them: whole, or in parts, of which those are open that were asked for.
struct LoginManifest {
    private struct Part {
        /// As the user's cell names it; of no meaning once the part has changed.
        var tag = CellTag(.zero)
        var count = 0
        /// nil: not open.
        var entries: [ManifestEntry]?
        var hasChanged = false
    }

    /// How many bits of a handle choose the part; nil: the manifest is whole.
    private(set) var bits: Int?
    /// Of a manifest that is whole.
    private var entries: [ManifestEntry] = []
    /// Of one that is not.
    private var parts: [Part] = []
    /// How many parts the vault has rows of.
    private(set) var storedParts: Int

    /// Of a user without logins.
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

    /// About; enough to make room.
    var byteCountInUserCell: Int {
        bits == nil ? count * ManifestEntry.byteCount : parts.count * ManifestParts.byteCount
    }

    /// What the user's cell says of the parts.
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

    /// The part that names a login, or would.
    func part(of login: LoginHandle) -> Int { bits.map { login.part($0) } ?? 0 }

    func isOpen(_ number: Int) -> Bool { bits == nil || parts[number].entries != nil }
    func tag(of number: Int) -> CellTag { parts[number].tag }

    mutating func open(_ number: Int, _ entries: [ManifestEntry]) {
        parts[number].entries = entries
        parts[number].count = entries.count
    }

    /// What is to be sealed, by the numbers of the parts.
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

    /// All rows are as this says.
    mutating func noteStored() { storedParts = parts.count }

    /// Everything must be sealed anew, under another key.
    mutating func noteAllChanged() {
        for number in parts.indices { parts[number].hasChanged = true }
    }

    /// Takes the place of a part that does not open.
    mutating func clear(_ number: Int) { parts[number] = Part(entries: [], hasChanged: true) }

    // MARK: Entries, of parts that are open

    func entry(of login: LoginHandle) -> ManifestEntry? {
        if bits == nil { return entries.first { $0.login == login } }
        return parts[part(of: login)].entries?.find(login)
    }

    /// In no order that means anything. Of parts that are open.
    var logins: [LoginHandle] { (entries + parts.flatMap { $0.entries ?? [] }).map(\.login) }

    mutating func put(_ entry: ManifestEntry) {
        guard bits != nil else {
            // In the order in which they were made.
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

    /// How many bits there are to be, by how many logins there are; the same as now, unless there are too many or too few.
    func wantedBits(_ limits: ManifestLimits) -> Int? {
        let count = count
        guard let bits else { return count > limits.mostWhole ? 0 : nil }
        if count <= limits.mostWhole / 2 { return nil }
        if bits < ManifestParts.mostBits, parts.contains(where: { $0.count > limits.mostInPart }) { return bits + 1 }
        guard bits > 0, count < limits.fewestInPart << bits else { return bits }
        // Two that are one must not be too many, or they would be cut again at once.
        let canJoin = stride(from: 0, to: parts.count, by: 2).allSatisfy {
            parts[$0].count + parts[$0 + 1].count <= limits.mostInPart
        }
        return canJoin ? bits - 1 : bits
    }

    /// Makes it whole again. All parts must be open.
    ///
    /// - Parameter order: in which the logins were made.
    mutating func join(inOrderOf order: [LoginHandle]) {
        let entries = parts.flatMap { $0.entries ?? [] }
        let places = Dictionary(zip(order, 0...), uniquingKeysWith: { first, _ in first })
        self.entries = entries.sorted { places[$0.login] ?? .max < places[$1.login] ?? .max }
        bits = nil
        parts = []
    }

    /// Cuts anew, and further where a part would have too many entries. All parts must be open.
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
