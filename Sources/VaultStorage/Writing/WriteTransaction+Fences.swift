/// The numbers of renewals. What an engine keeps of them stands in the clear.
extension WriteTransaction {
    /// The fence that the next intent gets. No other process can take it: the write lock is ours.
    func nextFence() throws(StoreError) -> Int64 {
        if let highestFence { return highestFence + 1 }
        var last = try tables.highestFence()
        // No fence may be given twice. Where the counter says nothing, chance sees to that until it is mended.
        if !Self.isFence(last) { last = Self.unusedFence(above: Self.counterLimit / 2) }
        highestFence = last
        return last + 1
    }

    /// Whether a counter of fences may be believed.
    static func isFence(_ counter: Int64) -> Bool { (0..<counterLimit - 1).contains(counter) }

    /// One that a vault has never given, in all likelihood: beyond what one reaches, and random.
    package static func unusedFence() -> Int64 { unusedFence(above: counterLimit / 4) }

    private static func unusedFence(above least: Int64) -> Int64 {
        var generator = SystemRandomNumberGenerator()
        return least + Int64.random(in: 0..<least / 2, using: &generator)
    }

    /// What is wrong with the counter; nil if it may be right.
    ///
    /// - Parameter told: the highest fence that the trail tells.
    static func problem(ofCounter counter: Int64, told: Int64) -> String? {
        guard isFence(counter) else { return "the counter of renewals is not one that a vault reaches" }
        return counter < told ? "the counter of renewals was turned back: the audit trail records later ones" : nil
    }

    /// More renewals than a vault begins in its life.
    private static let fencesOfALife: Int64 = 1 << 32

    /// Where the counter of a vault goes on that was put back. A reply that is late, or that lies in a spool, may name a fence
    /// that the vault gave out after the moment to which it was put back: none of them must be given out again.
    package static func fence(beyondLifeOf counter: Int64) -> Int64 {
        let (next, overflows) = counter.addingReportingOverflow(fencesOfALife)
        return !overflows && next >= fencesOfALife && next < Int64.max / 2 ? next : unusedFence()
    }

    func raiseFences() throws(StoreError) {
        highestFence = nil
        try tables.setHighestFence(Self.fence(beyondLifeOf: tables.highestFence()))
    }

    /// Lets the counter of fences go on where it has never been.
    func mendFences() throws(StoreError) {
        highestFence = nil
        // While it was no counter, renewals may have got fences that are higher still.
        let told = try AuditTrail(opener).highestFence()
        let beyond = told + min(1 << 32, max(0, Self.counterLimit - 2 - told))
        try tables.setHighestFence(max(Self.unusedFence(), beyond))
    }
}
