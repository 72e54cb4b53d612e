import Platform

/// A new file that only its owner can read. Never overwrites a file.
enum PrivateFile {
    /// Writes the whole content and waits until it is on disk. Removes the file if that fails.
    static func write(_ content: [UInt8], to path: String) throws(Failure) {
        let file = try create(path)
        do throws(Failure) {
            try write(content, to: file, path)
            do throws(SystemError) { try file.synchronize() } catch { throw failure(path, error) }
        } catch {
            NamedFile(path).discard()
            throw error
        }
    }

    /// What creating the file would refuse, before anything is done.
    static func refuseExisting(_ path: String) throws(Failure) {
        let file = NamedFile(path)
        if file.exists { throw failure(path, .exists) }
        let directory = PathName.directory(of: path)
        if !NamedFile(directory).exists { throw failure(path, .notFound) }
        if let kind = FileKind(directory), kind != .directory { throw failure(path, .notDirectory) }
    }

    static func create(_ path: String) throws(Failure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(path, for: .writing, [.createNew, .notThroughLink])
        } catch {
            throw failure(path, error)
        }
    }

    static func write(_ content: [UInt8], to file: Descriptor, _ path: String) throws(Failure) {
        do throws(SystemError) { try file.writeAll(content) } catch { throw failure(path, error) }
    }

    private static func failure(_ path: String, _ error: SystemError) -> Failure {
        let name = Printable.path(path)
        return switch error {
        case .exists: .usage("\(name) already exists", hint: "choose another file; nothing is overwritten")
        case .isDirectory where path.hasSuffix("/"):
            Failure(.machine, code: "outputFailed", "\(name) names a directory", hints: ["name a new file in it"])
        case .notDirectory:
            Failure(
                .machine, code: "outputFailed",
                "\(name) cannot be made: \(Printable.path(PathName.directory(of: path))) is a file",
                hints: ["name a file in a directory"])
        case .noSpace, .overQuota:
            Failure(.machine, code: "outputFull", "\(name) could not be written: the disk is full")
        case .notFound where !NamedFile(PathName.directory(of: path)).exists:
            Failure(
                .machine, code: "outputFailed",
                "\(name) cannot be made: there is no directory \(Printable.path(PathName.directory(of: path)))",
                hints: [PathName.adviceToMake(PathName.directory(of: path))])
        default: Failure(.machine, code: "outputFailed", "\(name) could not be written: \(error.text)")
        }
    }
}
