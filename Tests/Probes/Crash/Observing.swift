import Synchronization
import TokenVault
import TokenVaultHTTP

/// A service with an observer that says what it hears, and that never comes back from the event with the given number.
enum Observing {
    private final class Speaker: LoginObserver {
        let name = "speaker"
        private let heard = Mutex(0)
        private let last: Int

        init(last: Int) { self.last = last }

        func observe(_ event: SessionEvent) async throws {
            let count = heard.withLock { heard in
                heard += 1
                return heard
            }
            say("heard \(event.kind.name) \(event.userId ?? "")")
            while count == last { try await Task.sleep(for: .seconds(60)) }
        }
    }

    static func run(_ options: Options) async throws {
        let service = try await VaultService(
            in: Service.location(options), unlockedBy: .keyFile(try options.required("key")),
            transport: AsyncHTTPTransport(options: .loopback),
            options: VaultServiceOptions(
                scheduler: nil, observers: [Speaker(last: options.integer("last", or: 0))],
                newObserversBeginAfter: .start))
        say("open")
        try await service.run()
    }
}
