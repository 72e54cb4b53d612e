import Glibc

/// A parser of bytes from outside, with properties that must hold for every input: it does not trap, it is fast, and an
/// independent reading of the same bytes confirms its result.
package struct FuzzTarget: Sendable {
    package let name: String
    private let check: @Sendable ([UInt8]) throws(FuzzFinding) -> Void

    init(_ name: String, _ check: @escaping @Sendable ([UInt8]) throws(FuzzFinding) -> Void) {
        self.name = name
        self.check = check
    }

    package static let all: [FuzzTarget] = [
        .tokenReply, .challenge, .form, .discovery, .profile, .callback, .url, .idToken, .sealedCell, .record, .keyFile,
        .age, .associatedData, .spool, .keySlot, .jsonLines, .csv, .sqlDump, .msalCache,
        .servePolicy, .serveRequest,
    ]

    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    /// The processor time that one input may take.
    package static let allowedTime = Duration.milliseconds(50)

    /// The property that does not hold for `input`; nil if all hold.
    package func finding(for input: [UInt8]) -> FuzzFinding? {
        let started = Self.processorTime()
        do throws(FuzzFinding) {
            try check(input)
        } catch {
            return error
        }
        let used = Self.processorTime() - started
        return used > Self.allowedTime ? FuzzFinding("\(name): \(input.count) bytes took \(used)") : nil
    }

    /// Of this thread: other work on the machine does not count.
    private static func processorTime() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// A property that must hold and does not.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

func require(_ holds: Bool, _ claim: @autoclosure () -> String) throws(FuzzFinding) {
    if !holds { throw FuzzFinding(claim()) }
}
