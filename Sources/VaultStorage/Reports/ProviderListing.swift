/// One provider in a list. A damaged one is listed with what is wrong, and hides nothing after it.
package struct ProviderListing: Sendable {
    /// Its place in the list.
    package let sequence: Int64
    /// `nil` if not even that can be read.
    package let handle: ProviderHandle?
    /// `nil` if the row cannot be opened.
    package let provider: StoredProvider?
    package let damage: StoreError?

    package init(sequence: Int64, handle: ProviderHandle?, provider: StoredProvider?, damage: StoreError?) {
        self.sequence = sequence
        self.handle = handle
        self.provider = provider
        self.damage = damage
    }
}
