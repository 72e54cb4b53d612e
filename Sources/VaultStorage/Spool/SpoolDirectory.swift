import Platform

/// A directory in which each process has a file named after its owner number.
struct SpoolDirectory: Sendable {
    let path: String
    private let parent: String

    init(at path: String, in parent: String) {
        self.path = path
        self.parent = parent
    }

    private static let suffix = ".spool"

    private func name(of owner: Int64) -> String { "\(owner)\(Self.suffix)" }

    func filePath(of owner: Int64) -> String { "\(path)/\(name(of: owner))" }

    /// Opens this process's file, and creates it if it does not exist.
    func openOwn(_ owner: Int64) throws(StoreError) -> SpoolFile {
        let directory = try open(isMade: true)
        let filePath = filePath(of: owner)
        let file: GuardedDescriptor
        do throws(SystemError) {
            file = try GuardedDescriptor(name(of: owner), in: directory, Self.options.union(.createNew))
        } catch {
            guard error == .exists else { throw failure(error, filePath) }
            guard let file = try openExisting(owner, in: directory) else {
                throw StoreError(.io(.notFound), "\(filePath) keeps being created and removed")
            }
            return file
        }
        try? file.setPermissions(0o600)
        do throws(StoreError) {
            let spoolFile = try SpoolFile(file, path: filePath, isNew: true)
            try synchronize(directory)
            return spoolFile
        } catch {
            try? directory.remove(name(of: owner))
            throw error
        }
    }

    /// Opening a FIFO must not wait for a writer.
    private static let options: OpeningOptions = [.notThroughLink, .withoutWaiting, .durableWrites]

    /// Opens the file of any process; `nil` if it no longer exists.
    func openExisting(_ owner: Int64) throws(StoreError) -> SpoolFile? {
        guard FileIdentity(path: path) != nil else { return nil }
        return try openExisting(owner, in: try open(isMade: false))
    }

    private func openExisting(_ owner: Int64, in directory: Descriptor) throws(StoreError) -> SpoolFile? {
        let file: GuardedDescriptor
        do throws(SystemError) {
            file = try GuardedDescriptor(name(of: owner), in: directory, Self.options)
        } catch {
            if error == .notFound { return nil }
            throw failure(error, filePath(of: owner))
        }
        return try SpoolFile(file, path: filePath(of: owner), isNew: false)
    }

    /// The current bytes of any process's file, perhaps in the middle of a change; `nil` if the file no longer exists.
    func peek(_ owner: Int64) throws(StoreError) -> [UInt8]? {
        guard FileIdentity(path: path) != nil else { return nil }
        let directory = try open(isMade: false)
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(name(of: owner), in: directory, for: .reading, [.notThroughLink, .withoutWaiting])
        } catch {
            if error == .notFound { return nil }
            throw failure(error, filePath(of: owner))
        }
        try PrivateFile.check(file, filePath(of: owner))
        return try SpoolFile.read(file)
    }

    /// Removes an empty file. The caller has it open, and therefore locked.
    func remove(_ owner: Int64) throws(StoreError) {
        let directory = try open(isMade: false)
        do throws(SystemError) { try directory.remove(name(of: owner)) } catch {
            guard error == .notFound else { throw failure(error, filePath(of: owner)) }
        }
        try synchronize(directory)
    }

    private func synchronize(_ directory: Descriptor) throws(StoreError) {
        do throws(SystemError) { try directory.synchronize() } catch {
            throw StoreError(.io(error), "\(path) cannot be made durable")
        }
    }

    /// The owners of the existing files. Other file names are ignored.
    func owners() throws(StoreError) -> [Int64] {
        guard FileIdentity(path: path) != nil else { return [] }
        let directory = try open(isMade: false)
        let names: [String]
        do throws(SystemError) { names = try Directory.names(in: directory) } catch { throw failure(error, path) }
        var owners: [Int64] = []
        for name in names {
            guard name.hasSuffix(Self.suffix), let owner = Int64(name.dropLast(Self.suffix.count)), owner > 0,
                name == self.name(of: owner)
            else { continue }
            owners.append(owner)
        }
        return owners.sorted()
    }

    /// Opens the directory itself, if no other user can access it.
    private func open(isMade: Bool) throws(StoreError) -> Descriptor {
        if isMade { try make() }
        let directory: Descriptor
        do throws(SystemError) {
            directory = try Descriptor(path, for: .reading, [.directory, .notThroughLink])
        } catch {
            throw failure(error, path)
        }
        let status = try? directory.status()
        guard let status, status.isOurs, status.permissions & 0o077 == 0 else {
            throw PrivateFile.refused(
                "its spool directory belongs to another user or is accessible to others",
                "run `chown` or `chmod 700 \(path)`")
        }
        return directory
    }

    private func make() throws(StoreError) {
        do throws(SystemError) { try NamedFile(path).makeDirectory() } catch {
            guard error == .exists else { throw failure(error, path) }
            return
        }
        try? NamedFile(path).setPermissions(0o700)
        try PrivateFile.synchronizeDirectory(parent)
    }

    private func failure(_ error: SystemError, _ path: String) -> StoreError {
        switch error {
        case .tooManyLinks, .notDirectory, .noDevice:
            PrivateFile.refused("a part of its spool is not what the vault made", "move it away: \(path)")
        default: PrivateFile.creationError(error, path)
        }
    }
}
