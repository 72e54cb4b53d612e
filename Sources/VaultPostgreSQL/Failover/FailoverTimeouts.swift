/// How long is waited after a failover for the processes that had the vault open before.
package struct FailoverTimeouts: Sendable {
    /// For those that have changed it. All logins are held if one of them does not come.
    var withWriters = Duration.seconds(15)
    /// For those that have changed nothing, as far as this server knows: the word of their first change may be lost with that.
    /// Nothing is held if they do not come.
    var withReaders = Duration.seconds(3)

    package init() {}
}
