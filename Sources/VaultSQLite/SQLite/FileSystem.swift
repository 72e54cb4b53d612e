import Platform
import VaultStorage

/// The file system of a vault's directory, and whether SQLite's locks and shared memory can be trusted there.
///
/// A file system that is known to be local is accepted; one that is known to be remote is refused. For any other (FUSE,
/// 9p, virtiofs) there is no way to see whether other machines use it. The caller must vouch for it, and it must then
/// prove that it behaves like a local one on this machine.
struct FileSystem: Equatable {
    private let type: FileSystemType

    init(magic: UInt32) { type = FileSystemType(magic: magic) }

    init(of directory: String) { type = FileSystemType(of: directory) }

    var name: String { type.name }

    /// - Parameter isTrusted: whether the caller knows that no other machine uses the file system.
    func check(isTrusted: Bool, _ directory: String, isReadOnly: Bool) throws(StoreError) {
        switch type.reach {
        case .local: return
        case .networked:
            throw PrivateFile.refused(
                "it is on a network file system (\(name)), where SQLite's locks cannot be trusted",
                "put the vault on a local disk")
        case .unknown:
            guard isTrusted else {
                throw PrivateFile.refused(
                    "it is on a file system that is not known to be local (\(name))",
                    "put the vault on a local disk; if no other machine uses this file system: --trust-file-system")
            }
            if !isReadOnly { try Self.prove(directory) }
        }
    }

    // MARK: Proof

    /// Tests the properties that a vault depends on, in a file of its own that no other process sees: one open file
    /// sees another one's lock, and two mappings share their bytes.
    static func prove(_ directory: String) throws(StoreError) {
        let holder = try open(directory)
        // A second open file description of the same nameless file.
        let observer: GuardedDescriptor
        do throws(SystemError) { observer = try holder.reopened(for: .readingAndWriting) } catch {
            throw StoreError(
                .io(error), "the file system of \(directory) cannot be tried out: \(error.text)",
                hint: "mount /proc")
        }
        // Written, not just extended: touching a page without disk space first would end the process.
        let page = [UInt8](repeating: 0, count: pageByteCount)
        do throws(SystemError) {
            guard try holder.write(page, at: 0) == page.count else { throw .noSpace }
        } catch {
            throw PrivateFile.creationError(error, directory)
        }
        guard holder.setLock(start: 0, length: 1), observer.isLockedElsewhere(start: 0, length: 1) == true,
            !observer.setLock(start: 0, length: 1)
        else { throw refused("locks") }
        guard sharesMemory(holder, observer) else { throw refused("shared memory") }
    }

    private static let pageByteCount = 4096

    static func refused(_ what: String) -> StoreError {
        PrivateFile.refused(
            "its file system does not have the \(what) that SQLite needs", "put the vault on a local disk")
    }

    /// A file without a name, which disappears when the process is killed. Where the file system has none, a file that
    /// is unlinked at once.
    private static func open(_ directory: String) throws(StoreError) -> GuardedDescriptor {
        do throws(SystemError) {
            do throws(SystemError) {
                return try GuardedDescriptor(directory, .nameless)
            } catch {
                guard [.notSupported, .isDirectory, .invalidArgument, .notFound].contains(error) else { throw error }
            }
            let path = "\(directory)/.vault-probe-\(RandomName.make())"
            let file = try GuardedDescriptor(path, [.createNew, .notThroughLink])
            NamedFile(path).discard()
            return file
        } catch {
            throw PrivateFile.creationError(error, "a file in \(directory)")
        }
    }

    private static func sharesMemory(_ first: GuardedDescriptor, _ second: GuardedDescriptor) -> Bool {
        guard let one = SharedMapping(of: first, byteCount: pageByteCount),
            let other = SharedMapping(of: second, byteCount: pageByteCount)
        else { return false }
        for value: UInt8 in [0x5A, 0xA5] {
            one[7] = value
            guard other[7] == value else { return false }
        }
        return true
    }
}
