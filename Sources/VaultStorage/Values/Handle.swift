package import VaultCrypto

/// The random name of a stored object: 16 bytes that reveal nothing. `Subject` only distinguishes kinds.
///
/// The text form has 26 lower-case base32 characters (RFC 4648 §6, no padding).
package struct Handle<Subject>: Hashable, Sendable {
    package let bytes: Bytes16

    package init(_ bytes: Bytes16) { self.bytes = bytes }

    package static func random() -> Self { Self(SecureRandom.bytes16()) }
}

/// Random names for the rows that one transaction makes. They are adjacent in sort order, so a batch of an import
/// changes a few pages of each index, and not one page for each login.
///
/// The first is completely random. The others have its first eight bytes and eight random ones. This reveals that they
/// were made together, which the rows show anyway.
package struct HandleSource<Subject>: Sendable {
    private var first: Bytes16?
    /// Second halves that were generated and not used yet: one system call produces many.
    private var halves: [Bytes16] = []

    package init() {}

    package mutating func next() -> Handle<Subject> {
        guard let first else {
            let random = SecureRandom.bytes16()
            self.first = random
            return Handle(random)
        }
        if halves.isEmpty { halves = SecureRandom.bytes16(count: 32) }
        return Handle(first.withSecondHalf(of: halves.removeLast()))
    }
}

package enum LoginSubject {}
package enum UserSubject {}
package enum ProviderSubject {}
package enum KeySlotSubject {}
package enum OutboxSubject {}
package enum ReplySubject {}
package enum BackupSubject {}

package typealias LoginHandle = Handle<LoginSubject>
package typealias UserHandle = Handle<UserSubject>
package typealias ProviderHandle = Handle<ProviderSubject>
package typealias KeySlotHandle = Handle<KeySlotSubject>
package typealias OutboxHandle = Handle<OutboxSubject>
package typealias ReplyHandle = Handle<ReplySubject>
package typealias BackupHandle = Handle<BackupSubject>

extension Handle: LosslessStringConvertible {
    package var text: String { Base32.encode(bytes) }

    /// Returns `nil` unless the text is exactly the ``text`` of some handle.
    package init?(text: String) {
        guard let bytes = Base32.decode(text) else { return nil }
        self.bytes = bytes
    }

    package var description: String { text }

    package init?(_ description: String) { self.init(text: description) }
}
