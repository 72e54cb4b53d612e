/// What happened in a run, or in many.
package struct Counts: Equatable, Sendable {
    package var schedules = 0
    package var steps = 0
    package var calls = 0
    package var requests = 0
    package var rotations = 0
    package var crashes = 0
    package var stalls = 0
    /// Processes that end after one call.
    package var visits = 0
    package var failedCommits = 0
    package var networkFaults = 0
    package var doubts = 0
    package var takeOvers = 0
    package var lostResponses = 0
    /// Chains ended by requests that their senders had given up.
    package var lateEnds = 0
    package var scheduled = 0
    package var deadGrants = 0
    package var spooled = 0
    /// Tokens that came when their login was no longer theirs, and were queued for revocation.
    package var orphans = 0
    /// Of a machine from the database server.
    package var cuts = 0
    package var failovers = 0
    /// Machines that were made from the image of another.
    package var clones = 0
    /// Clocks of machines that were set by an hour, or put right.
    package var clocks = 0
    /// How often the vault was put back, and how often it lost its last commits with a primary.
    package var restores = 0
    package var promotions = 0

    package init() {}

    /// Each with its name, in the order in which they are printed.
    static let fields: [(name: String, path: any WritableKeyPath<Counts, Int> & Sendable)] = [
        ("schedules", \.schedules), ("steps", \.steps), ("calls", \.calls), ("requests", \.requests),
        ("rotations", \.rotations), ("crashes", \.crashes), ("stalls", \.stalls),
        ("failedCommits", \.failedCommits), ("networkFaults", \.networkFaults), ("doubts", \.doubts),
        ("takeOvers", \.takeOvers), ("lostResponses", \.lostResponses), ("deadGrants", \.deadGrants),
        ("spooled", \.spooled), ("orphans", \.orphans), ("cuts", \.cuts), ("failovers", \.failovers),
        ("clones", \.clones), ("clocks", \.clocks), ("restores", \.restores),
        ("promotions", \.promotions), ("visits", \.visits), ("lateEnds", \.lateEnds),
        ("scheduled", \.scheduled),
    ]

    package static func += (left: inout Counts, right: Counts) {
        for field in fields { left[keyPath: field.path] += right[keyPath: field.path] }
    }

    /// `name=value` pairs, for people and for the process that adds them up.
    package var text: String { Self.fields.map { "\($0.name)=\(self[keyPath: $0.path])" }.joined(separator: " ") }

    package init(text: some StringProtocol) {
        for pair in text.split(separator: " ") {
            let parts = pair.split(separator: "=")
            guard parts.count == 2, let value = Int(parts[1]),
                let field = Self.fields.first(where: { $0.name == parts[0] })
            else { continue }
            self[keyPath: field.path] = value
        }
    }
}
