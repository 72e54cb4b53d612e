import FoundationEssentials

/// Directories that the command line names.
enum InputDirectory {
    /// The names of what is in it.
    ///
    /// - Parameters:
    ///   - option: the option that names it.
    ///   - hint: what to do if it is not there.
    ///   - status: if it is not there; `machine` if files are made in it.
    static func names(
        in path: String, _ option: String, hint: String, status: ExitStatus = .notFound
    ) throws(Failure) -> [String] {
        if let names = try? FileManager.default.contentsOfDirectory(atPath: path) { return names }
        let name = Printable.path(path)
        let (status, message, hint): (ExitStatus, String, String) =
            switch FileKind(path) {
            case nil: (status, "there is no directory \(name) (\(option))", hint)
            case .directory?:
                (.machine, "\(name) (\(option)) cannot be read", "let this user read it: chmod u+rx \(name)")
            case _?: (.usage, "\(name) (\(option)) is not a directory", "name a directory: \(option) DIRECTORY")
            }
        throw Failure(status, code: "directoryMissing", message, hints: [hint])
    }
}
