/// The kind of an audit row. Codes are stored and never renumbered. Unknown ones are shown, not refused.
package struct AuditKind: Hashable, Sendable, RawRepresentable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let vaultCreated = AuditKind(rawValue: 1)
    package static let vaultMigrated = AuditKind(rawValue: 2)
    package static let keySlotAdded = AuditKind(rawValue: 3)
    package static let keySlotRemoved = AuditKind(rawValue: 4)
    /// A commit had failed with an unknown outcome; the row records the outcome.
    package static let commitSettled = AuditKind(rawValue: 5)
    /// A row that could not be opened was deleted at an operator's request.
    package static let rowDiscarded = AuditKind(rawValue: 6)
    /// A key was seen to open the slot.
    package static let keySlotProven = AuditKind(rawValue: 7)
    /// The vault key was replaced. Slots without an available key were removed before, each with a row.
    package static let vaultRekeyed = AuditKind(rawValue: 8)
    /// Rows behind the end of the trail that no process had written got other numbers.
    package static let rowSetAside = AuditKind(rawValue: 9)
    package static let providerAdded = AuditKind(rawValue: 10)
    package static let providerUpdated = AuditKind(rawValue: 11)
    package static let providerRemoved = AuditKind(rawValue: 12)
    package static let loginCreated = AuditKind(rawValue: 20)
    /// A change for which the writer gave no better name.
    package static let loginChanged = AuditKind(rawValue: 21)
    package static let renewalStarted = AuditKind(rawValue: 22)
    package static let renewed = AuditKind(rawValue: 23)
    package static let renewalFailed = AuditKind(rawValue: 24)
    package static let renewalInDoubt = AuditKind(rawValue: 25)
    package static let renewalPostponed = AuditKind(rawValue: 26)
    package static let intentTakenOver = AuditKind(rawValue: 27)
    package static let tokenUpdated = AuditKind(rawValue: 28)
    package static let tokenRejected = AuditKind(rawValue: 29)
    package static let loginDead = AuditKind(rawValue: 30)
    package static let failureNotified = AuditKind(rawValue: 31)
    package static let loggedOut = AuditKind(rawValue: 32)
    package static let loginRemoved = AuditKind(rawValue: 33)
    package static let tokenRevealed = AuditKind(rawValue: 34)
    /// The tokens of the last renewal work; the refresh token before them was erased.
    package static let renewalProven = AuditKind(rawValue: 35)
    /// The same attempt sent a refresh token again. The details record whether the server had requested it or no usable
    /// reply had come.
    package static let renewalRepeated = AuditKind(rawValue: 36)
    /// The body of an unusable reply was shown.
    package static let replyRevealed = AuditKind(rawValue: 37)
    /// A refresh token was extracted from such a reply.
    package static let replySalvaged = AuditKind(rawValue: 38)
    /// The *refresh failed* flag was cleared, and the kept refresh token is used again.
    package static let loginRevived = AuditKind(rawValue: 39)
    package static let userChanged = AuditKind(rawValue: 40)
    package static let userDisabled = AuditKind(rawValue: 41)
    package static let userEnabled = AuditKind(rawValue: 42)
    package static let userErased = AuditKind(rawValue: 43)
    package static let revocationQueued = AuditKind(rawValue: 50)
    package static let revocationConfirmed = AuditKind(rawValue: 51)
    package static let revocationDeferred = AuditKind(rawValue: 52)
    package static let revocationAbandoned = AuditKind(rawValue: 53)
    /// A backup of the vault was made and checked, and has its name.
    package static let backupMade = AuditKind(rawValue: 60)
    /// The vault no longer lists a backup.
    package static let backupForgotten = AuditKind(rawValue: 61)
    /// The vault was restored from a backup: the first row of a new incarnation.
    package static let vaultRestored = AuditKind(rawValue: 62)
    /// A pending log-in of the backup was dropped.
    package static let logInDropped = AuditKind(rawValue: 63)
    /// A renewal that was open in the backup was dropped.
    package static let renewalDropped = AuditKind(rawValue: 64)
    /// A login that was held since a restore may be renewed again.
    package static let restoreAccepted = AuditKind(rawValue: 65)
    /// Rows of the trail that were past their retention were removed.
    package static let trailPruned = AuditKind(rawValue: 66)
    /// The trail was shown with the ids of users.
    package static let usersResolved = AuditKind(rawValue: 67)

    /// An operator accepted the vault as the newest, although its witness had seen otherwise. All logins are held.
    package static let witnessReplaced = AuditKind(rawValue: 68)
    /// The vault got a witness, which did not have a note before.
    package static let witnessBegun = AuditKind(rawValue: 69)
    /// A step of a rotation of the root key; the details name the step.
    package static let rootKeyRotated = AuditKind(rawValue: 70)
    /// A user got a new data key.
    package static let dataKeyReplaced = AuditKind(rawValue: 71)
    /// A step of a replacement; the detail names the step.
    package static let indexKeyReplaced = AuditKind(rawValue: 72)
    /// The last row under the trail's former key, the first one under the new key, or the removal of a former key; the
    /// detail says which.
    package static let auditKeyReplaced = AuditKind(rawValue: 73)

    /// A login was taken over from another system.
    package static let loginImported = AuditKind(rawValue: 80)
    /// The other system has renewed a login that it still owns.
    package static let importFollowed = AuditKind(rawValue: 81)
    /// The vault now owns the chain of an imported login.
    package static let importAccepted = AuditKind(rawValue: 82)
    /// The other system has renewed a login that it no longer owns. The login is held.
    package static let importContested = AuditKind(rawValue: 83)
    /// A source was read: the details count its rows, and the new ones among them.
    package static let sourceRead = AuditKind(rawValue: 84)
    /// The chain of a login belongs to its original system again.
    package static let importReturned = AuditKind(rawValue: 85)
    /// The tokens of a login were written for another system. The details name it, or say that it was a copy.
    package static let loginExported = AuditKind(rawValue: 86)

    /// Everything moves to another vault: after this row, only the move changes anything.
    package static let moveBegun = AuditKind(rawValue: 110)
    /// Everything moves from another vault; the details name it and the end of its trail.
    package static let moveArrived = AuditKind(rawValue: 111)
    /// A login arrived unchanged from another vault.
    package static let loginMoved = AuditKind(rawValue: 112)
    /// A user without logins arrived from another vault.
    package static let userMoved = AuditKind(rawValue: 113)
    /// Everything has moved to another vault, or from one.
    package static let moveFinished = AuditKind(rawValue: 114)
    /// A move was abandoned.
    package static let moveAborted = AuditKind(rawValue: 115)

    /// The user logged in again into this login: a new chain replaced the old one.
    package static let loggedInAgain = AuditKind(rawValue: 90)
    /// An access token of the client itself was shown to a person.
    package static let clientTokenRevealed = AuditKind(rawValue: 100)

    /// A login was ended permanently and stays in the vault; the detail gives the reason.
    package static let loginTerminated = AuditKind(rawValue: 91)
    /// The app changed a login's label or metadata; the details say which.
    package static let loginDescribed = AuditKind(rawValue: 92)

    /// The client registered itself at a provider.
    package static let clientRegistered = AuditKind(rawValue: 93)
    /// The client's registration there was changed.
    package static let clientRegistrationChanged = AuditKind(rawValue: 94)
    /// The client's registration there was deleted, and every grant with it.
    package static let clientRegistrationDeleted = AuditKind(rawValue: 95)

    /// The database server was replaced by another one, or restored. The details record whether commits were lost. If
    /// so, all logins are held.
    package static let failoverSettled = AuditKind(rawValue: 96)

    /// A provider has ended too many logins in a row. Further ends are not believed until a renewal succeeds or an
    /// operator accepts them. The details hold the number.
    package static let providerStopped = AuditKind(rawValue: 97)
    /// A login of a stopped provider was renewed, so the provider is no longer stopped.
    package static let providerResumed = AuditKind(rawValue: 98)
    /// An operator confirmed that the provider ends logins for good reason.
    package static let deathsAccepted = AuditKind(rawValue: 99)

    /// The provider's replies contradict its profile, or what they were before. The details hold the findings.
    package static let providerDrifted = AuditKind(rawValue: 101)

    /// A program of this machine was given a token by `vaultctl serve`: the first of the login's generation. The details
    /// hold its name in the policy, its user's number and the generation.
    package static let tokenHandedOut = AuditKind(rawValue: 102)

    package static let all = names.keys.sorted { $0.rawValue < $1.rawValue }

    private static let names: [AuditKind: String] = [
        vaultCreated: "vaultCreated", vaultMigrated: "vaultMigrated",
        keySlotAdded: "keySlotAdded", keySlotRemoved: "keySlotRemoved",
        keySlotProven: "keySlotProven", vaultRekeyed: "vaultRekeyed",
        commitSettled: "commitSettled", rowDiscarded: "rowDiscarded",
        rowSetAside: "rowSetAside",
        providerAdded: "providerAdded", providerUpdated: "providerUpdated", providerRemoved: "providerRemoved",
        loginCreated: "loginCreated", loginChanged: "loginChanged",
        renewalStarted: "renewalStarted", renewed: "renewed", renewalFailed: "renewalFailed",
        renewalInDoubt: "renewalInDoubt", renewalPostponed: "renewalPostponed",
        intentTakenOver: "intentTakenOver", tokenUpdated: "tokenUpdated", tokenRejected: "tokenRejected",
        loginDead: "loginDead", failureNotified: "failureNotified", loggedOut: "loggedOut",
        loginRemoved: "loginRemoved", tokenRevealed: "tokenRevealed",
        renewalProven: "renewalProven", renewalRepeated: "renewalRepeated",
        replyRevealed: "replyRevealed", replySalvaged: "replySalvaged", loginRevived: "loginRevived",
        userChanged: "userChanged", userDisabled: "userDisabled", userEnabled: "userEnabled",
        userErased: "userErased",
        revocationQueued: "revocationQueued", revocationConfirmed: "revocationConfirmed",
        revocationDeferred: "revocationDeferred", revocationAbandoned: "revocationAbandoned",
        backupMade: "backupMade", backupForgotten: "backupForgotten", vaultRestored: "vaultRestored",
        logInDropped: "logInDropped", renewalDropped: "renewalDropped", restoreAccepted: "restoreAccepted",
        rootKeyRotated: "rootKeyRotated", dataKeyReplaced: "dataKeyReplaced",
        indexKeyReplaced: "indexKeyReplaced", auditKeyReplaced: "auditKeyReplaced",
        loginImported: "loginImported", importFollowed: "importFollowed", importAccepted: "importAccepted",
        importContested: "importContested", sourceRead: "sourceRead", importReturned: "importReturned",
        loginExported: "loginExported",
        loggedInAgain: "loggedInAgain", loginTerminated: "loginTerminated", loginDescribed: "loginDescribed",
        clientTokenRevealed: "clientTokenRevealed",
        moveBegun: "moveBegun", moveArrived: "moveArrived", loginMoved: "loginMoved", userMoved: "userMoved",
        moveFinished: "moveFinished", moveAborted: "moveAborted",
        clientRegistered: "clientRegistered", clientRegistrationChanged: "clientRegistrationChanged",
        clientRegistrationDeleted: "clientRegistrationDeleted",
        trailPruned: "trailPruned", usersResolved: "usersResolved", witnessReplaced: "witnessReplaced",
        witnessBegun: "witnessBegun",
        failoverSettled: "failoverSettled",
        providerStopped: "providerStopped", providerResumed: "providerResumed", deathsAccepted: "deathsAccepted",
        providerDrifted: "providerDrifted", tokenHandedOut: "tokenHandedOut",
    ]

    /// Returns nil if this version knows no kind with this name.
    package init?(name: String) {
        guard let kind = Self.all.first(where: { $0.name == name }) else { return nil }
        self = kind
    }

    /// The name that people and programs see.
    package var name: String { Self.names[self] ?? "kind\(rawValue)" }
}
