/// The numbers of renewals. The engine stores their counter in plaintext.
extension WriteTransaction {
    /// The fence of the next intent. No other process can take it, because this one holds the write lock.
    func nextFence() throws(StoreError) -> Int64 {
        if let highestFence { return highestFence + 1 }
        var last = try tables.highestFence()
        // No fence may be used twice. If the counter is invalid, a random number ensures that until the counter is
        // repaired.
        if !Self.isFence(last) { last = Self.unusedFence(above: Self.counterLimit / 2) }
        highestFence = last
        return last + 1
    }

    /// Whether a counter of fences is plausible.
    static func isFence(_ counter: Int64) -> Bool { (0..<counterLimit - 1).contains(counter) }

    /// A random fence beyond all that a vault reaches, which it has almost certainly never used.
    package static func unusedFence() -> Int64 { unusedFence(above: counterLimit / 4) }

    private static func unusedFence(above least: Int64) -> Int64 {
        var generator = SystemRandomNumberGenerator()
        return least + Int64.random(in: 0..<least / 2, using: &generator)
    }

    /// The problem with the counter; nil if it may be right.
    ///
    /// - Parameter told: the highest fence in the trail.
    static func problem(ofCounter counter: Int64, told: Int64) -> String? {
        guard isFence(counter) else { return "the counter of renewals is not one that a vault reaches" }
        return counter < told ? "the counter of renewals was turned back: the audit trail records later ones" : nil
    }

    /// More renewals than a vault ever begins.
    private static let fencesOfALife: Int64 = 1 << 32

    /// The value from which the counter of a restored vault continues. A late or spooled reply may name a fence that
    /// the vault used after the moment to which it was put back: none of these may be used again.
    package static func fence(beyondLifeOf counter: Int64) -> Int64 {
        let (next, overflows) = counter.addingReportingOverflow(fencesOfALife)
        return !overflows && next >= fencesOfALife && next < Int64.max / 2 ? next : unusedFence()
    }

    func raiseFences() throws(StoreError) {
        highestFence = nil
        try tables.setHighestFence(Self.fence(beyondLifeOf: tables.highestFence()))
    }

    /// Moves the counter of fences to a range that was never used.
    func mendFences() throws(StoreError) {
        highestFence = nil
        // While the counter was invalid, renewals may have got even higher fences.
        let told = try AuditTrail(opener).highestFence()
        let beyond = told + min(1 << 32, max(0, Self.counterLimit - 2 - told))
        try tables.setHighestFence(max(Self.unusedFence(), beyond))
    }
}
