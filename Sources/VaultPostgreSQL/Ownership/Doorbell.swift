import Platform

/// Wakes a thread that also listens to a server.
final class Doorbell: Sendable {
    private let pipe: Pipe

    init?() {
        guard let pipe = try? Pipe(waits: false) else { return nil }
        self.pipe = pipe
    }

    func ring() { _ = try? pipe.writing.write([0]) }

    /// Sleeps until it rings or the server sends something, but no longer than this, whatever happens to the clock.
    func sleep(_ milliseconds: Int32, listeningTo connection: ServerConnection?) {
        var wait = DescriptorWait(for: pipe.reading.number, .readable)
        if let connection { wait.add(connection.socket, .readable) }
        _ = try? wait.wait(milliseconds: milliseconds)
        _ = try? pipe.reading.read(atMost: 64)
    }
}
