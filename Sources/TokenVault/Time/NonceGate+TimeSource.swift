import OAuthClient

extension NonceGate {
    /// A gate whose waits are measured by a vault's clock, and known to it.
    convenience init(_ timeSource: any TimeSource) {
        self.init(
            clock: Clock(
                alarm: { duration, action in
                    let alarm = timeSource.alarm(after: duration, action)
                    return { alarm.cancel() }
                },
                beginWait: {
                    guard let work = WorkToken.current else { return nil }
                    work.beginWait()
                    return { work.endWait() }
                }))
    }
}
