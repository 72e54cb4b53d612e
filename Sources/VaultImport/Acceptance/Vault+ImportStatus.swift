public import FoundationEssentials
public import TokenVault
import VaultAdministration
import VaultStorage

extension Vault {
    /// How many imported logins there are, of which source and provider, and who owns them. Looks at every login.
    ///
    /// - Returns: In the order of the names.
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
    /// What the import called the source.
    public var source: String { place.source }
    public var provider: String? { place.provider }
    /// Logins that the source owns.
    public internal(set) var held = 0
    /// Logins that this vault owns.
    public internal(set) var accepted = 0
    /// Logins that both have renewed.
    public internal(set) var contested = 0
    /// Of the held ones: those that the last complete reading did not find.
    public internal(set) var missing = 0
    /// Of all: those that can no longer be renewed.
    public internal(set) var dead = 0
    /// When the source was last read to its end, all its providers together.
    public internal(set) var lastReading: Date?
    /// How many changes the last reading found.
    public internal(set) var changes: Int?
    /// How many it found in an hour, on the average of the last readings; nil: too few of them.
    public internal(set) var changesPerHour: Double?

    struct Place: Hashable, Comparable {
        let source: String
        let provider: String?

        static func < (one: Self, other: Self) -> Bool {
            (one.source, one.provider ?? "") < (other.source, other.provider ?? "")
        }
    }

    let place: Place
    /// Readings that the average is made of.
    fileprivate static let mostReadings = 10

    fileprivate init(_ place: Place) { self.place = place }

    fileprivate mutating func add(_ login: Login, _ origin: LoginOrigin, at now: Timestamp) {
        switch origin.owner {
        case .source: held += 1
        case .vault: accepted += 1
        case .contested: contested += 1
        }
        if origin.isMissing { missing += 1 }
        // One that has expired and has no refresh token is dead, too, though no provider has refused it.
        let isOver = !login.isRefreshable && login.expiresAt.map { $0 <= now.date } ?? false
        if login.failure != nil || isOver { dead += 1 }
    }

    /// The oldest gives the beginning alone: what it found came before.
    fileprivate mutating func add(_ readings: [SourceReading]) {
        guard let newest = readings.first, let oldest = readings.last else { return }
        lastReading = newest.date
        changes = newest.changes
        let hours = newest.date.timeIntervalSince(oldest.date) / 3_600
        if hours > 0 { changesPerHour = Double(readings.dropLast().reduce(0) { $0 + $1.changes }) / hours }
    }
}
