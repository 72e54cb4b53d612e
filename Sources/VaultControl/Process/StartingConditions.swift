import Platform
import Synchronization

/// Preconditions, checked before anything else.
enum StartingConditions {
    /// The first violated one.
    static var failure: Failure? { malformedArgument ?? closedDescriptor ?? missingThreads }

    /// Fills closed standard streams with descriptors that cannot be read or written. Otherwise the next opened file
    /// would take their number, and be read as a secret or written to.
    static func fillStreams() {
        if StandardStreams.fill() { filled.store(true, ordering: .relaxed) }
    }

    /// Whether a standard stream was closed.
    private static let filled = Atomic<Bool>(false)

    /// A descriptor that an option names but the caller did not open. Later its number may be one of the program's own.
    private static var closedDescriptor: Failure? {
        let arguments = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        for (index, argument) in arguments.enumerated() {
            let name = String(argument.prefix { $0 != "=" })
            guard name.hasPrefix("--"), name.hasSuffix("-fd") else { continue }
            let value =
                name == argument ? arguments.dropFirst(index + 1).first : String(argument.dropFirst(name.count + 1))
            guard let descriptor = value.flatMap({ Int32($0) }), descriptor >= 0 else { continue }
            let stream = BorrowedDescriptor(descriptor)
            let purpose = stream.purpose
            let status: ExitStatus = ["--key-fd", "--passphrase-fd"].contains(name) ? .key : .usage
            let isRead = name != "--plain-to-fd"
            let wasClosed = stream.isStandardStream && filled.load(ordering: .relaxed) && isRead
            guard let purpose, !wasClosed || purpose != .writing else {
                return Failure(
                    status, "file descriptor \(descriptor) is not open (\(name))",
                    hints: ["open it in the shell: \(descriptor)\(isRead ? "<FILE" : "> >(PROGRAM)")"])
            }
            if isRead, purpose == .writing {
                return Failure(
                    status, "file descriptor \(descriptor) is open for writing alone (\(name))",
                    hints: ["open one for reading in the shell: 3<FILE"])
            }
        }
        return nil
    }

    /// Bytes that are not UTF-8 would be replaced when they become text, and two user ids or paths could become equal.
    private static var malformedArgument: Failure? {
        let arguments = unsafe CommandLine.unsafeArgv
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = unsafe arguments[index], unsafe String(validatingCString: argument) == nil else {
                continue
            }
            return .usage(
                "argument \(index) is not valid UTF-8", hint: "ids and names are UTF-8: use a UTF-8 terminal")
        }
        return nil
    }

    /// The number of threads that Swift needs to make progress. If the system provides none, Swift waits silently and
    /// permanently.
    private static let threads = 4

    private static var missingThreads: Failure? {
        guard let started = ThreadSupply.count(of: threads), started < threads else { return nil }
        return Failure(
            .machine, "the system does not let this program start threads",
            hints: ["raise the limits on processes and address space: ulimit -u, ulimit -v"])
    }
}
