import Platform

extension Console {
    /// Whether output goes into a pipe, or to a terminal, that no one reads now.
    var hasLostReader: Bool {
        var wait = DescriptorWait(for: output.number, [])
        _ = try? wait.wait(milliseconds: 0)
        return wait.ready.contains { !$0.events.isDisjoint(with: .gone) }
    }
}
