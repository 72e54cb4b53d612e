import VaultCrypto
package import VaultStorage

// The only place where errors of the store and of the cryptography become the public one.
extension VaultError {
    package init(_ error: StoreError) {
        let retryAfter: Duration? = if case .busy = error.code { .seconds(1) } else { nil }
        var logins: [LoginID] = []
        if case .ambiguousLogin(let handles) = error.code { logins = handles.map { LoginID($0) } }
        self.init(
            Code(error.code), error.message, hint: error.hint ?? Self.hint(for: error.code), logins: logins,
            retryAfter: retryAfter)
    }

    /// What an app does about an error for which the store has no hint. Names of providers are not listed: another
    /// tenant's are not the caller's business.
    private static func hint(for code: StoreError.Code) -> String? {
        switch code {
        case .notFound(.user): "addLogin or a log-in makes a user"
        case .notFound(.login): "it was logged out, or is in another vault; a log-in makes a new one"
        case .notFound(.provider): "addProvider makes one; a tenant has providers of its own"
        case .notFound(.authorizationRequest):
            "it was completed, has expired, or was begun elsewhere: begin the log-in again"
        case .userDisabled: "enableUser lets the user log in again"
        case .closed: "open the vault again; a manager and a service are of no use after it is closed"
        default: nil
        }
    }

    /// - Parameter login: Which login was looked for.
    package init(_ error: StoreError, choosing login: LoginSelector) {
        if case .user = login, error.code == .notFound(.login) {
            self.init(.notLoggedIn, "the user has no login", hint: "let the user log in")
        } else {
            self.init(error)
        }
    }

    init(_ error: VaultCryptoError) {
        self.init(Code(error.code), error.message, hint: error.hint)
    }

    /// Returns the public error for an internal one.
    static func publicError(_ error: any Error) -> any Error {
        switch error {
        case let error as StoreError: VaultError(error)
        case let error as VaultCryptoError: VaultError(error)
        default: error
        }
    }

    /// Runs `body` and lets only public errors out.
    package static func translating<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw publicError(error)
        }
    }

    /// Runs `body` and lets only public errors out.
    package static func translating<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch {
            throw publicError(error)
        }
    }
}

extension VaultError.Code {
    init(_ code: StoreError.Code) {
        self =
            switch code {
            case .notFound(let subject): Self(missing: subject)
            case .ambiguousLogin: .ambiguousLogin
            case .userDisabled: .userDisabled
            case .quarantined: .quarantined
            case .rollbackSuspected: .rollbackSuspected
            case .busy: .busy
            case .full: .storageFull
            case .readOnly: .readOnly
            case .io, .outOfMemory: .storageFailed
            case .vaultMissing: .vaultMissing
            case .vaultExists: .vaultExists
            case .vaultUnfinished: .vaultUnfinished
            case .notAVault: .notAVault
            case .notABackup: .notABackup
            case .unsafeFile: .unsafeFile
            case .newerSchema: .newerSchema
            case .migrationNeeded: .migrationNeeded
            case .foreignSchemaObject, .damaged: .damaged
            case .wrongKey: .wrongKey
            case .keyUnavailable(let code): Self(code)
            case .conflict: .conflict
            case .lastKeySlot, .keySlotNotProven, .providerInUse: .inUse
            case .invalidValue: .invalidArgument
            case .ownershipLost: .ownershipLost
            case .moved: .moved
            case .closed: .closed
            case .logInNotBound: .logInNotBound
            }
    }

    private init(missing subject: StoreError.Subject) {
        self =
            switch subject {
            case .user: .unknownUser
            case .login: .unknownLogin
            case .provider: .unknownProvider
            case .keySlot: .unknownKeySlot
            case .authorizationRequest: .unknownAuthorizationRequest
            case .outboxEntry: .unknownRevocation
            case .damagedRow: .unknownRow
            case .backup: .unknownBackup
            }
    }

    init(_ code: VaultCryptoError.Code) {
        self =
            switch code {
            case .unavailable, .outOfGuardedMemory, .outOfMemory: .cryptographyUnavailable
            case .keyFileMissing: .keyMissing
            case .keyFileTruncated: .keyTruncated
            case .keyFileMalformed: .keyMalformed
            case .keyFileUnsafe, .keyFileUnreadable: .keyUnsafe
            case .keyFileExists: .keyExists
            case .keyFileNotWritten: .storageFailed
            case .wrongKey: .wrongKey
            case .recipientMalformed: .invalidArgument
            case .keySourceFailed: .keyUnavailable
            case .keySourceBusy: .keyServiceBusy
            case .unlockingTooDear: .keyTooCostly
            case .passphraseEmpty, .passphraseTooLong, .passphraseParametersOutOfBounds, .labelTooLong,
                .associatedDataTooLong, .plaintextTooLong:
                .invalidArgument
            case .malformedCell, .unknownFormat, .unknownSuite, .unknownKind, .unknownFlags, .wrongKind, .unknownKey,
                .authenticationFailed, .malformedPadding, .malformedRecord, .unknownField:
                .damaged
            }
    }
}
