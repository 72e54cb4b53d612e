/// A new file that is there whole and durable, or not there at all, wherever the process is killed. Nothing is
/// overwritten.
///
/// While it is written it has no name (`O_TMPFILE`), so that nothing can be left of it. File systems that cannot do
/// that get a file of another name, `PATH.<26 characters>.tmp`, and its name is changed at the end; what a killed
/// process leaves of that is removed by the next one that writes a file of the same path.
package struct NewFile {
    /// How a whole file gets its name. In this order each is for file systems that cannot do the one before.
    package enum Naming: CaseIterable, Sendable {
        /// The file has had no name so far.
        case first
        /// Renamed, unless there is a file of that name.
        case exclusiveRename
        /// Gets a second name and loses the first.
        case secondName
        /// Takes the place of an empty file that was made to reserve the name. A kill between may leave the empty file.
        case reservation
    }

    private let path: String
    private let namings: [Naming]

    /// - Parameter namings: all but for tests.
    package init(_ path: String, namings: [Naming] = Naming.allCases) {
        self.path = path
        self.namings = namings
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        removeLeftovers()
        if FileIdentity(path: path) != nil { throw .exists }
        var isNamed = false
        if namings.contains(.first) { isNamed = try unsafe writeWithoutName(bytes) }
        if !isNamed { try unsafe writeUnderOtherName(bytes) }
        try synchronizeDirectory()
    }

    // MARK: Without a name

    private static let cannotOpen: [SystemError] = [.notSupported, .isDirectory, .invalidArgument, .notFound]
    private static let cannotName: [SystemError] = [
        .notFound, .crossesFileSystems, .notPermitted, .notSupported, .invalidArgument,
    ]
    private static let cannotRename: [SystemError] = [.invalidArgument, .notImplemented, .notPermitted, .notSupported]

    /// Gives false if the file system, or the missing of `/proc`, does not let it.
    private func writeWithoutName(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Bool {
        guard let file = try openWithoutName() else { return false }
        try unsafe fill(file, bytes)
        return try giveName(to: file)
    }

    /// Nil if the file system does not let it.
    func openWithoutName() throws(SystemError) -> Descriptor? {
        do throws(SystemError) {
            return try Descriptor(parent, for: .readingAndWriting, .nameless)
        } catch {
            guard Self.cannotOpen.contains(error) else { throw error }
            return nil
        }
    }

    /// Gives false if the file system does not let it.
    private func giveName(to file: Descriptor) throws(SystemError) -> Bool {
        do throws(SystemError) { try file.giveName(path) } catch {
            guard Self.cannotName.contains(error) else { throw error }
            return false
        }
        return true
    }

    /// Gives a whole file without a name this one. Where the file system does not let it, a copy of the file gets it.
    func name(_ file: Descriptor) throws(SystemError) {
        if try giveName(to: file) { return }
        let (copy, temporary) = try openUnderOtherName()
        do throws(SystemError) {
            try copy.setPermissions(0o600)
            try Self.copy(file, to: copy)
            try copy.synchronize()
            try name(temporary)
        } catch {
            NamedFile(temporary).discard()
            throw error
        }
        withExtendedLifetime(copy) {}
    }

    private static func copy(_ source: Descriptor, to target: Descriptor) throws(SystemError) {
        var offset: Int64 = 0
        while true {
            let piece = try source.read(atMost: 65_536, at: offset)
            guard !piece.isEmpty else { return }
            try target.writeAll(piece)
            offset += Int64(piece.count)
        }
    }

    private func fill(_ file: Descriptor, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        // The umask may have taken bits away from the owner.
        try file.setPermissions(0o600)
        try unsafe file.writeAll(bytes)
        try file.synchronize()
    }

    // MARK: Under another name

    private static let suffix = ".tmp"

    private func writeUnderOtherName(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let (file, temporary) = try openUnderOtherName()
        do throws(SystemError) {
            try unsafe fill(file, bytes)
            try name(temporary)
        } catch {
            NamedFile(temporary).discard()
            throw error
        }
        withExtendedLifetime(file) {}
    }

    func openUnderOtherName() throws(SystemError) -> (file: Descriptor, path: String) {
        let temporary = "\(path).\(RandomName.make())\(Self.suffix)"
        let file = try Descriptor(temporary, for: .readingAndWriting, [.createNew, .notThroughLink])
        // Held for as long as the file is written: a file with a free lock has been left behind.
        do throws(SystemError) { try file.lockWhole() } catch {
            NamedFile(temporary).discard()
            throw error
        }
        return (file, temporary)
    }

    /// Gives a whole file of another name this one, in whatever way the file system can do it.
    package func name(_ temporary: String) throws(SystemError) {
        var failure = SystemError.invalidArgument
        for naming in namings where naming != .first {
            do throws(SystemError) { return try rename(temporary, by: naming) } catch { failure = error }
            guard Self.cannotRename.contains(failure) else { break }
        }
        throw failure
    }

    private func rename(_ temporary: String, by naming: Naming) throws(SystemError) {
        let file = NamedFile(temporary)
        switch naming {
        case .first: throw .invalidArgument
        case .exclusiveRename: try file.renameExclusively(to: path)
        case .secondName:
            try file.link(as: path)
            file.discard()
        case .reservation:
            _ = try Descriptor(path, for: .writing, [.createNew, .notThroughLink])
            do throws(SystemError) { try file.rename(to: path) } catch {
                NamedFile(path).discard()
                throw error
            }
        }
    }

    // MARK: Leftovers

    /// Removes what processes have left that were killed while they wrote a file of this path, and the second name of a
    /// file that got both.
    package func removeLeftovers() {
        Leftovers(in: parent, of: PathName.lastPart(of: path) + ".", suffix: Self.suffix).remove()
    }

    // MARK: Directory

    private var parent: String { PathName.directory(of: path) }

    func synchronizeDirectory() throws(SystemError) { try Directory.synchronize(parent) }
}
