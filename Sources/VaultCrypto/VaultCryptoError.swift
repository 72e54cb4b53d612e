/// What went wrong below the vault. It carries no secret and no user data; a path is the only outside text in it.
package struct VaultCryptoError: Error, Equatable, Sendable {
    package enum Code: Hashable, Sendable {
        /// libsodium could not be initialised.
        case unavailable
        /// No guarded memory could be had for a key.
        case outOfGuardedMemory
        /// Argon2id could not get its working memory. Not a wrong passphrase.
        case outOfMemory

        case malformedCell
        case unknownFormat
        case unknownSuite
        case unknownKind
        case unknownFlags
        /// A whole cell of another kind than the one asked for.
        case wrongKind
        /// The cell names a key that is not the one at hand.
        case unknownKey
        case authenticationFailed(AuthenticationStage)
        case malformedPadding
        case associatedDataTooLong
        case plaintextTooLong

        case malformedRecord
        /// A record holds a field that this version must know and does not.
        case unknownField

        case keyFileMissing
        case keyFileUnreadable
        case keyFileTruncated
        case keyFileMalformed
        case keyFileUnsafe
        case keyFileExists
        case keyFileNotWritten

        /// A recipient of age that is none, or that has no secret half.
        case recipientMalformed
        /// A program, a credential or the like did not give the key.
        case keySourceFailed
        /// The same, and it may go better in a moment: it takes too long, or said so itself.
        case keySourceBusy

        case wrongKey
        case passphraseEmpty
        case passphraseTooLong
        case passphraseParametersOutOfBounds
        /// What a key slot asks for is within the format's bounds, and beyond what this process is willing to spend.
        case unlockingTooDear
        case labelTooLong
    }

    /// The two comparisons that guard a cell, in the order in which they are made.
    package enum AuthenticationStage: Hashable, Sendable {
        /// Another key, another row, or a damaged header, nonce or commitment.
        case commitment
        /// The right key and row, but a damaged ciphertext.
        case tag
    }

    package let code: Code
    /// One lower-case sentence for people, without a full stop.
    package let reason: String
    /// What an operator can do about it, if anything.
    package let hint: String?

    package init(_ code: Code, _ reason: String, hint: String? = nil) {
        self.code = code
        self.reason = reason
        self.hint = hint
    }
}

extension VaultCryptoError: CustomStringConvertible {
    package var description: String {
        guard let hint else { return reason }
        return "\(reason) (\(hint))"
    }
}
