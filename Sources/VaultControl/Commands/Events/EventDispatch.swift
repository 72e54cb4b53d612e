import FoundationEssentials
import TokenVault

/// Delivers events from the vault's record in order, each at least once.
struct EventDispatch {
    /// The number of attempts per event, unless it follows new events.
    private static let mostTries = 5
    private static let longestPause = Duration.seconds(60)
    private static let pollInterval = Duration.seconds(1)

    let vault: Vault
    let session: SessionRef?
    let names: Set<String>
    /// Nil: they are printed.
    let delivery: (any EventDelivery)?
    let file: CursorFile?
    let follows: Bool
    let invocation: Invocation

    /// Runs until no event is left, or until it is cancelled.
    func run(from start: EventCursor) async throws {
        var (cursor, lines) = (start, EventLines(invocation))
        var (count, others) = (0, 0)
        if file != nil, try file?.read() == nil { try file?.write(cursor) }
        while true {
            try await vault.deliverStoredEvents(after: cursor, of: session) { event in
                guard names.isEmpty || names.contains(event.kind.name) else {
                    others += 1
                    return
                }
                count += 1
                try await tell(event, &lines)
            } save: { place in
                cursor = place
                try file?.write(place)
            }
            guard follows else {
                if count == 0, others > 0 {
                    invocation.note(
                        "none of the \(Count.of(others, "event")) since \(start) was selected: --event NAME selects others"
                    )
                } else if count == 0 {
                    invocation.note("nothing has happened since \(start)")
                }
                return
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }

    private func tell(_ event: SessionEvent, _ lines: inout EventLines) async throws {
        guard let delivery else { return try lines.print(event) }
        let body = Array(EventLines.record(event).json.text.utf8)
        var tries = 0
        while true {
            do {
                return try await delivery.deliver(event, body)
            } catch let problem as DeliveryProblem {
                tries += 1
                guard follows || tries < Self.mostTries else {
                    throw Failure(
                        .provider, code: "notDelivered", "the event was not delivered: \(problem.message)",
                        hints: ["nothing is lost: the next run begins with this event"])
                }
                let pause = min(Self.longestPause, .seconds(1 << min(tries - 1, 6)))
                invocation.warn(
                    "the event was not delivered: \(problem.message); next try in \(Instant.duration(pause.inSeconds))")
                try await Task.sleep(for: pause)
            }
        }
    }
}
