import Platform

extension ManualTimeSource {
    /// How a clock notices that it was forgotten.
    package struct Watch: Sendable {
        /// Returns when a test has had time enough to advance the clock.
        let wait: @Sendable () async -> Void
        let say: @Sendable (String) -> Void

        package init(wait: @escaping @Sendable () async -> Void, say: @escaping @Sendable (String) -> Void) {
            self.wait = wait
            self.say = say
        }

        /// By the machine's clock, on standard error.
        static let real = Watch {
            try? await Task.sleep(for: .seconds(5))
        } say: { words in
            // Without a standard error there is no one to warn.
            try? BorrowedDescriptor.standardError.writeAll(Array("\(words)\n".utf8))
        }
    }
}
