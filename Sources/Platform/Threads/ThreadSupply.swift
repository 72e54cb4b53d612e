import Glibc

/// Whether the system gives this process any threads.
package enum ThreadSupply {
    /// Starts up to `wanted` threads that live at the same time, and ends them. Gives how many there were; nil if that cannot
    /// be tried.
    package static func count(of wanted: Int) -> Int? {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        var started: [pthread_t] = []
        for _ in 0..<wanted {
            var thread = pthread_t()
            // Each lives until all have been made.
            let end = unsafe UnsafeMutableRawPointer(bitPattern: Int(ends[0]))
            let status = unsafe pthread_create(
                &thread, nil,
                { end in
                    var byte: UInt8 = 0
                    unsafe _ = read(Int32(Int(bitPattern: end)), &byte, 1)
                    return nil
                }, end)
            guard status == 0 else { break }
            started.append(thread)
        }
        close(ends[1])
        for thread in started { pthread_join(thread, nil) }
        return started.count
    }
}
