import Platform
import VaultCrypto
import VaultStorage

/// What the processes of this machine knew last of a vault, for the next one of them. Where a database is put back to an
/// earlier state, everything in it goes back, and the server says nothing of it if it starts in its former history.
struct MachineNote {
    let history: ServerTimeline
    let changes: Int64
    let incarnation: Int64
    /// The end of the trail after a change that a process of this machine has made.
    let head: WriteTransaction.AuditHead?

    init(history: ServerTimeline, changes: Int64, incarnation: Int64, head: WriteTransaction.AuditHead?) {
        self.history = history
        self.changes = changes
        self.incarnation = incarnation
        self.head = head
    }

    /// nil if there is none, or none that can be read.
    init?(at path: String) {
        let file = try? Descriptor(path, for: .reading, .notThroughLink)
        guard let bytes = try? file?.read(atMost: 256), bytes.last == UInt8(ascii: "\n") else { return nil }
        let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
        let numbers = words.prefix(6).compactMap { Int64($0) }
        guard words.count == 7, numbers.count == 6, numbers[0] == Self.format else { return nil }
        history = ServerTimeline(system: numbers[1], timeline: numbers[2])
        (changes, incarnation) = (numbers[3], numbers[4])
        let link = unsafe Self.bytes(words[6]).withUnsafeBytes { unsafe AuditMAC($0) }
        head = link.map { WriteTransaction.AuditHead(sequence: numbers[5], mac: $0) }
    }

    /// As a whole or not at all. That it lasts is not waited for: it is for those who come later.
    func write(to path: String, by owner: Int64) {
        let link = head.map { Self.hex($0.mac.array) } ?? "-"
        let numbers = [Self.format, history.system, history.timeline, changes, incarnation, head?.sequence ?? 0]
        let text = numbers.map { "\($0) " }.joined() + link + "\n"
        let draft = "\(path).\(owner)"
        guard let file = try? Descriptor(draft, for: .writing, [.create, .emptied, .notThroughLink]) else { return }
        let bytes = Array(text.utf8)
        do throws(SystemError) {
            guard try file.write(bytes) == bytes.count else { throw .noSpace }
            try NamedFile(draft).rename(to: path)
        } catch {
            NamedFile(draft).discard()
        }
    }

    private static let format: Int64 = 1

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Empty if they are none.
    private static func bytes(_ hex: Substring) -> [UInt8] {
        let digits = hex.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return [] }
        var found: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return [] }
            found.append(UInt8(high << 4 | low))
        }
        return found
    }
}

extension MachineNote {
    /// Whether the vault lacks what was known. From then on the watch knows it, too.
    func isAhead(of tables: ServerTables, _ context: VaultContext, _ watch: TimelineTracker) -> Bool {
        guard let found = watch.knownChanges else { return false }
        watch.note(changes, in: history)
        if history == watch.history, changes > found { return true }
        // A row that cannot be read is another matter, of which others speak.
        return head.map { (try? WriteTransaction(tables, context).lacks($0)) ?? false } ?? false
    }

    /// Leaves for the next process of this machine what this one knows, unless another one knows more.
    static func keep(_ watch: TimelineTracker, _ context: VaultContext, at path: String, by owner: Int64) {
        guard let history = watch.history, let changes = watch.knownChanges else { return }
        // What was known before all logins were held is of no use any more.
        let last = MachineNote(at: path).flatMap { $0.incarnation == context.incarnation ? $0 : nil }
        if let last, last.history == history, last.changes > changes { return }
        let heads = [watch.head, last?.head].compactMap(\.self)
        MachineNote(
            history: history, changes: changes, incarnation: context.incarnation,
            head: heads.max { $0.sequence < $1.sequence }
        ).write(to: path, by: owner)
    }

    /// One for each place: a copy of the database knows nothing of what the original has come to.
    static func path(in directory: String, _ address: ServerAddress, place: Int64) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(address.display) \(place)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\(directory)/known-\(String(hash, radix: 16))"
    }
}
