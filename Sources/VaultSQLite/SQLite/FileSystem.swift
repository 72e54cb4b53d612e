import Platform
import VaultStorage

/// The file system that a vault's directory is on, and whether SQLite's locks and shared memory can be trusted there.
///
/// A file system that is known to be local is accepted; one that is known to be on another machine is refused. Whether
/// other machines use any other (FUSE, 9p, virtiofs) cannot be seen: the caller must trust it, and then it must prove
/// that it does on this machine what a local one does.
struct FileSystem: Equatable {
    private let type: FileSystemType

    init(magic: UInt32) { type = FileSystemType(magic: magic) }

    init(of directory: String) { type = FileSystemType(of: directory) }

    var name: String { type.name }

    /// - Parameter isTrusted: by the caller, who knows that no other machine uses it.
    func check(isTrusted: Bool, _ directory: String, isReadOnly: Bool) throws(StoreError) {
        switch type.reach {
        case .local: return
        case .networked:
            throw PrivateFile.refused(
                "it lies on a network file system (\(name)), where SQLite's locks cannot be trusted",
                "put the vault on a local disk")
        case .unknown:
            guard isTrusted else {
                throw PrivateFile.refused(
                    "it lies on a file system that is not known to be local (\(name))",
                    "put the vault on a local disk; if no other machine uses this file system: --trust-file-system")
            }
            if !isReadOnly { try Self.prove(directory) }
        }
    }

    // MARK: Proof

    /// Tests what a vault depends on, with a file of its own that no other process sees: a lock of one open file is
    /// seen by another, and two mappings share their bytes.
    static func prove(_ directory: String) throws(StoreError) {
        let holder = try open(directory)
        // An open file of its own, of the same nameless file.
        let observer: GuardedDescriptor
        do throws(SystemError) { observer = try holder.reopened(for: .readingAndWriting) } catch {
            throw StoreError(
                .io(error), "the file system of \(directory) cannot be tried out: \(error.text)",
                hint: "mount /proc")
        }
        // Written, and not only made longer: the first touch of a page that has no room ends the process.
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

    /// A file without a name, of which nothing is left when the process is killed; where there is no such thing, one
    /// that loses its name at once.
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
