import Platform
import VaultImport

/// The destination of an export: sealed into a new file or to standard output, or unsealed to another program.
final class ExportTarget {
    private let file: ExportFile?
    private let seal: SealedOutput?
    private let output: ([UInt8]) throws -> Void

    init(_ command: ExportCommand, _ invocation: Invocation) throws {
        if let descriptor = command.plainToFd {
            try Self.checkPlain(descriptor)
            output = Self.writer(to: BorrowedDescriptor(descriptor))
            (file, seal) = (nil, nil)
            return
        }
        let path = command.out ?? ""
        let write: ([UInt8]) throws -> Void
        if path == "-" {
            guard !invocation.console.isTerminal(.output) else {
                throw Failure.usage(
                    "the export cannot be written to a terminal", hint: "use --out FILE, or pipe it to another program")
            }
            write = Self.writer(to: invocation.console.output)
            file = nil
        } else {
            let file = try Self.file(path)
            write = { try file.write($0) }
            self.file = file
        }
        let seal = try SealedOutput(for: command.recipients, to: write)
        output = { try seal.write($0) }
        self.seal = seal
    }

    /// Nothing is written before.
    func begin() throws { try seal?.begin() }

    func write(_ bytes: [UInt8]) throws { try output(bytes) }

    func finish() throws {
        try seal?.finish()
        try file?.finish()
    }

    private static func file(_ path: String) throws -> ExportFile {
        try PrivateFile.refuseExisting(path)
        do throws(ExportError) {
            return try ExportFile(path)
        } catch {
            guard error.code == .fileExists else { throw error }
            throw Failure.usage(
                "\(Printable.path(path)) already exists",
                hint: "choose another file; nothing is overwritten")
        }
    }

    /// Unsealed tokens go only to a program that reads them at once; they are never stored.
    private static func checkPlain(_ descriptor: Int32) throws(Failure) {
        let stream = BorrowedDescriptor(descriptor)
        guard stream.isOpen, let status = try? stream.status() else {
            throw .usage("file descriptor \(descriptor) is not open")
        }
        guard descriptor != BorrowedDescriptor.standardInput.number,
            descriptor != BorrowedDescriptor.standardError.number
        else {
            throw .usage("file descriptor \(descriptor) cannot be the export", hint: "open another one: 3>&1")
        }
        guard [.pipe, .socket].contains(status.kind) else {
            throw .usage(
                "file descriptor \(descriptor) is not a pipe: tokens are not written in the clear to files and terminals",
                hint: "pipe it to the program that reads it: vaultctl export --plain-to-fd 3 --yes 3>&1 >&2 | PROGRAM")
        }
    }

    /// An export without its reader is incomplete, so it fails.
    private static func writer(to descriptor: BorrowedDescriptor) -> ([UInt8]) throws -> Void {
        let console = Console(
            input: BorrowedDescriptor(-1), output: descriptor, error: BorrowedDescriptor(-1), environment: [:])
        return { bytes in
            do throws(OutputError) {
                try console.write(bytes, to: .output)
            } catch .closed {
                throw Failure(.machine, code: "outputClosed", "the reader of the export has ended")
            }
        }
    }
}
