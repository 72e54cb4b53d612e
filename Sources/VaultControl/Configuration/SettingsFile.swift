import Platform
import TokenVault

/// A file of settings that decides about secrets: any program that can write it could take them.
struct SettingsFile {
    /// What it is, as in "the \(noun)".
    let noun: String
    /// The option or the variable that names it.
    let origin: String
    var longest = 65_536

    /// The text of the file, if only root and this user can change it.
    func text(at path: String) throws(Failure) -> String {
        guard let text = String(validating: try bytes(at: path), as: UTF8.self) else {
            throw .usage("the \(noun) \(Printable.path(path)) (\(origin)) is not UTF-8 text")
        }
        return text
    }

    private func bytes(at path: String) throws(Failure) -> [UInt8] {
        let name = Printable.path(path)
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(path, for: .reading, [.notOurTerminal, .withoutWaiting])
        } catch {
            if error == .noDevice { try InputFile.refuseOther(at: path, from: origin) }
            throw Failure(
                error == .notFound ? .notFound : .machine,
                "the \(noun) cannot be read from \(name) (\(origin)): \(error.text)",
                hints: ["check \(origin)"])
        }
        try InputFile.refuseOther(at: path, from: origin)
        guard let status = try? file.status(), status.kind == .regular else {
            throw Failure(.machine, "the \(noun) \(name) (\(origin)) cannot be checked")
        }
        try Self.checkOwner(status, "the \(noun) \(name) (\(origin))", fix: "chmod go-w \(name)")
        let parent = PathName.directory(of: path)
        guard let directory = try? FileStatus(at: parent, followingLinks: true) else {
            throw Failure(.machine, "the directory of the \(noun) \(name) (\(origin)) cannot be checked")
        }
        // In a sticky directory such as /tmp, others cannot replace files that are not theirs.
        if !directory.isSticky {
            let parent = Printable.path(parent)
            try Self.checkOwner(directory, "the \(noun)'s directory \(parent) (\(origin))", fix: "chmod go-w \(parent)")
        }
        if let refusal = TrustedFile(path).refusal {
            throw Failure(.unsafeFile, "the \(noun) \(name) (\(origin)) \(refusal.reason)", hints: [refusal.hint])
        }
        do {
            return try InputFile.readAll(file, noun, from: path, atMost: longest)
        } catch {
            throw Failure(error)
        }
    }

    private static func checkOwner(_ status: FileStatus, _ name: String, fix: String) throws(Failure) {
        guard status.isOursOrRoots else {
            throw Failure(
                .unsafeFile, "\(name) belongs to another user", hints: ["use a file of your own, or of root's"])
        }
        guard status.permissions & 0o022 == 0 else {
            throw Failure(.unsafeFile, "other users can write to \(name)", hints: [fix])
        }
    }
}
