/// An error below the vault. It carries no secret and no user data; a path is the only outside text in it.
package struct VaultCryptoError: Error, Equatable, Sendable {
    package enum Code: Hashable, Sendable {
        /// libsodium could not be initialised.
        case unavailable
        /// Guarded memory for a key could not be allocated.
        case outOfGuardedMemory
        /// Argon2id could not allocate its working memory. Not a wrong passphrase.
        case outOfMemory

        case malformedCell
        case unknownFormat
        case unknownSuite
        case unknownKind
        case unknownFlags
        /// A valid cell of another kind than the one requested.
        case wrongKind
        /// The cell names another key.
        case unknownKey
        case authenticationFailed(AuthenticationStage)
        case malformedPadding
        case associatedDataTooLong
        case plaintextTooLong

        case malformedRecord
        /// A record has a mandatory field that this version does not know.
        case unknownField

        case keyFileMissing
        case keyFileUnreadable
        case keyFileTruncated
        case keyFileMalformed
        case keyFileUnsafe
        case keyFileExists
        case keyFileNotWritten

        /// Not an age recipient, or one that has no secret half.
        case recipientMalformed
        /// A program, a credential or another source did not provide the key.
        case keySourceFailed
        /// The same, but a retry may succeed: it timed out, or said so itself.
        case keySourceBusy

        case wrongKey
        case passphraseEmpty
        case passphraseTooLong
        case passphraseParametersOutOfBounds
        /// The key slot's cost is within the format's bounds, but exceeds the limit of this process.
        case unlockingTooDear
        case labelTooLong
    }

    /// The two comparisons that authenticate a cell, in order.
    package enum AuthenticationStage: Hashable, Sendable {
        /// Another key, another row, or a damaged header, nonce or commitment.
        case commitment
        /// The right key and row, but a damaged ciphertext.
        case tag
    }

    package let code: Code
    /// One lower-case sentence for people, without a full stop.
    package let message: String
    /// Advice for an operator, if there is any.
    package let hint: String?

    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}

extension VaultCryptoError: CustomStringConvertible {
    package var description: String {
        guard let hint else { return message }
        return "\(message) (\(hint))"
    }
}
