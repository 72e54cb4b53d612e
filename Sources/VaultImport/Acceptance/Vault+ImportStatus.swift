public import FoundationEssentials
public import TokenVault
import VaultAdministration
import VaultStorage

extension Vault {
    /// Counts imported logins by source, provider and owner. Reads every login.
    ///
    /// - Returns: The counts, ordered by name.
    public func importStatus() async throws -> [ImportStatus] {
        try requireOpen()
        var counts: [ImportStatus.Place: ImportStatus] = [:]
        var last: LoginID?
        repeat {
            try Task.checkCancellation()
            let page = try await logins(after: last, limit: 1_000)
            last = page.last?.id
            for case .login(let login) in page {
                guard let origin = login.origin else { continue }
                let place = ImportStatus.Place(source: origin.source, provider: login.provider)
                counts[place, default: ImportStatus(place)].add(login, origin, at: now)
            }
        } while last != nil
        var all = counts.values.sorted { $0.place < $1.place }
        for source in Set(all.map(\.source)) {
            let readings = try await readings(of: source, limit: ImportStatus.mostReadings)
            for index in all.indices where all[index].source == source { all[index].add(readings) }
        }
        return all
    }
}

/// Imported logins of one source at one provider.
public struct ImportStatus: Sendable, Equatable {
    /// The import's name of the source.
    public var source: String { place.source }
    public var provider: String? { place.provider }
    /// Logins that the source owns.
    public internal(set) var held = 0
    /// Logins that this vault owns.
    public internal(set) var accepted = 0
    /// Logins that both have renewed.
    public internal(set) var contested = 0
    /// Held logins that the last complete reading did not find.
    public internal(set) var missing = 0
    /// All logins that can no longer be renewed.
    public internal(set) var dead = 0
    /// When the source was last read to its end, with all its providers.
    public internal(set) var lastReading: Date?
    /// The number of changes that the last reading found.
    public internal(set) var changes: Int?
    /// The average number of changes per hour over the last readings; nil if they are of less than five minutes.
    public internal(set) var changesPerHour: Double?

    struct Place: Hashable, Comparable {
        let source: String
        let provider: String?

        static func < (one: Self, other: Self) -> Bool {
            (one.source, one.provider ?? "") < (other.source, other.provider ?? "")
        }
    }

    let place: Place
    /// The number of readings in the average.
    fileprivate static let mostReadings = 10
    /// A change in a minute says nothing of an hour.
    fileprivate static let leastHours = 1.0 / 12

    fileprivate init(_ place: Place) { self.place = place }

    fileprivate mutating func add(_ login: Login, _ origin: LoginOrigin, at now: Timestamp) {
        switch origin.owner {
        case .source: held += 1
        case .vault: accepted += 1
        case .contested: contested += 1
        }
        if origin.isMissing { missing += 1 }
        // An expired login without a refresh token is also dead, although no provider has rejected it.
        let isOver = !login.isRefreshable && login.expiresAt.map { $0 <= now.date } ?? false
        if login.failure != nil || isOver { dead += 1 }
    }

    /// The oldest reading only marks the beginning: its changes happened before it.
    fileprivate mutating func add(_ readings: [SourceReading]) {
        guard let newest = readings.first, let oldest = readings.last else { return }
        lastReading = newest.date
        changes = newest.changes
        let hours = newest.date.timeIntervalSince(oldest.date) / 3_600
        if hours >= Self.leastHours {
            changesPerHour = Double(readings.dropLast().reduce(0) { $0 + $1.changes }) / hours
        }
    }
}
