import Glibc

/// What must be so before the program does anything.
enum StartingConditions {
    /// The first that is not met.
    static var failure: Failure? { malformedArgument ?? missingThreads }

    /// Bytes that are not UTF-8 would be replaced on their way into text, and two user ids or paths would become one.
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

    /// As many as Swift needs to get anything done. Where the system gives it none, it waits for ever, without a word.
    private static let threads = 4

    private static var missingThreads: Failure? {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        var started: [pthread_t] = []
        for _ in 0..<threads {
            var thread = pthread_t()
            // Each lives until all have been made.
            let end = unsafe UnsafeMutableRawPointer(bitPattern: Int(ends[0]))
            let status = unsafe pthread_create(
                &thread, nil,
                { end in
                    var byte: UInt8 = 0
                    unsafe _ = read(Int32(Int(bitPattern: end)), &byte, 1)
                    return nil
                }, end)
            guard status == 0 else { break }
            started.append(thread)
        }
        close(ends[1])
        for thread in started { pthread_join(thread, nil) }
        guard started.count < threads else { return nil }
        return Failure(
            .machine, "the system does not let this program start threads",
            hints: ["raise the limits on processes and address space: ulimit -u, ulimit -v"])
    }
}
