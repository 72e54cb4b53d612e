import Platform
import VaultCrypto
import VaultStorage

/// The last known state of a vault, left by the processes of this machine for the next one. If a database is set back to an
/// earlier state, everything in it is set back, and the server does not show that if it starts on its former timeline.
struct MachineNote {
    let history: ServerTimeline
    let changes: Int64
    let incarnation: Int64
    /// The end of the trail after the last change made by a process of this machine.
    let head: WriteTransaction.AuditHead?

    init(history: ServerTimeline, changes: Int64, incarnation: Int64, head: WriteTransaction.AuditHead?) {
        self.history = history
        self.changes = changes
        self.incarnation = incarnation
        self.head = head
    }

    /// nil if there is no readable note.
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

    /// Writes the note completely or not at all. Does not wait for the disk: the note is for later processes.
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

    /// Empty if it is not valid hex.
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
    /// Whether the vault lacks a known change. From then on the tracker knows it, too.
    func isAhead(of tables: ServerTables, _ context: VaultContext, _ watch: TimelineTracker) -> Bool {
        guard let found = watch.knownChanges else { return false }
        watch.note(changes, in: history)
        if history == watch.history, changes > found { return true }
        // An unreadable row is a different problem, which is reported elsewhere.
        return head.map { (try? WriteTransaction(tables, context).lacks($0)) ?? false } ?? false
    }

    /// Leaves this process's knowledge for the next process of this machine, unless another process knows more.
    static func keep(_ watch: TimelineTracker, _ context: VaultContext, at path: String, by owner: Int64) {
        guard let history = watch.history, let changes = watch.knownChanges else { return }
        // Knowledge from before all logins were held no longer counts.
        let last = MachineNote(at: path).flatMap { $0.incarnation == context.incarnation ? $0 : nil }
        if let last, last.history == history, last.changes > changes { return }
        let heads = [watch.head, last?.head].compactMap(\.self)
        MachineNote(
            history: history, changes: changes, incarnation: context.incarnation,
            head: heads.max { $0.sequence < $1.sequence }
        ).write(to: path, by: owner)
    }

    /// One per database and table: a copy of the database does not know of the original's later changes.
    static func path(in directory: String, _ address: ServerAddress, place: Int64) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(address.display) \(place)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\(directory)/known-\(String(hash, radix: 16))"
    }
}
