/// When events come, and how many are kept for a slow subscriber.
public struct SessionEventOptions: Sendable {
    /// How long before an access token expires ``SessionEvent/Kind/willExpire(at:)`` comes. Twilio's three minutes.
    public var willExpireLead: Duration
    /// How long before a refresh token expires ``SessionEvent/Kind/refreshTokenWillExpire(at:)`` comes.
    public var refreshTokenWarningLead: Duration
    /// How many events are kept for each subscriber that does not fetch them. Later ones are counted, and reported as
    /// ``SessionEvent/Kind/missed(count:)``.
    public var bufferLimit: Int
    /// How often the vault is checked for changes by other processes.
    public var pollInterval: Duration
    /// For subscribers to all logins: how many logins whose tokens expire soon are remembered at a time. Others are
    /// reported as ``SessionEvent/Kind/missed(count:)`` when they are renewed.
    package var mostUnnamedLogins = 65_536
    /// How many user ids are remembered, so that they are not read from the vault for each row.
    package var mostNames = 4_096

    public init(
        willExpireLead: Duration = .seconds(180),
        refreshTokenWarningLead: Duration = .seconds(14 * 86_400),
        bufferLimit: Int = 1_024,
        pollInterval: Duration = .seconds(1)
    ) {
        self.willExpireLead = willExpireLead
        self.refreshTokenWarningLead = refreshTokenWarningLead
        self.bufferLimit = max(1, bufferLimit)
        self.pollInterval = max(.milliseconds(10), pollInterval)
    }
}
