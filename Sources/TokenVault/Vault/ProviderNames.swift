import Synchronization
import VaultCrypto
package import VaultStorage

/// A cache of the providers' names, so that a row need not be opened for its name each time. A name is kept with the
/// tag of the row's cell: a provider that was changed or replaced has another tag.
///
/// It also keeps the last provider of each name. That can become wrong: a provider without logins can be removed, and
/// its name given to another. A caller that finds no login there reads the provider again.
final class ProviderNames: Sendable {
    private static let most = 20_000

    private let names = Mutex<[ProviderHandle: (tag: CellTag, name: String)]>([:])
    private let handles = Mutex<[String: ProviderHandle]>([:])

    subscript(provider: ProviderHandle, tag: CellTag) -> String? {
        names.withLock { names in names[provider].flatMap { $0.tag == tag ? $0.name : nil } }
    }

    func handle(of name: String) -> ProviderHandle? { handles.withLock { $0[name] } }

    func keep(_ provider: ProviderHandle, for name: String) {
        handles.withLock { handles in
            if handles.count > Self.most { handles = [:] }
            handles[name] = provider
        }
    }

    func keep(_ name: String, _ provider: ProviderHandle, _ tag: CellTag) {
        names.withLock { names in
            // Otherwise those of providers that are gone would stay.
            if names.count > Self.most { names = [:] }
            names[provider] = (tag, name)
        }
    }
}

extension ProviderHandle {
    /// What takes the place of the name if the row cannot be opened, or was deleted without the key.
    package var damagedName: String { Self.damagedName(text) }

    package static func damagedName(_ handle: String) -> String { "damaged:\(handle)" }
}
