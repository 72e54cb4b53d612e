/// How long to wait after a failover for the processes that had the vault open before.
package struct FailoverTimeouts: Sendable {
    /// For processes that have changed the vault. All logins are held if one of them does not come back.
    var withWriters = Duration.seconds(15)
    /// For processes that have changed nothing, as far as this server knows: the announcement of their first change may
    /// be lost with it. Nothing is held if they do not come back.
    var withReaders = Duration.seconds(3)

    package init() {}
}
