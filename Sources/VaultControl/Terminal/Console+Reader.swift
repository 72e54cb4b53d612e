import Platform

extension Console {
    /// Whether output goes into a pipe or terminal that no longer has a reader.
    var hasLostReader: Bool {
        var wait = DescriptorWait(for: output.number, [])
        _ = try? wait.wait(milliseconds: 0)
        return wait.ready.contains { !$0.events.isDisjoint(with: .gone) }
    }
}
