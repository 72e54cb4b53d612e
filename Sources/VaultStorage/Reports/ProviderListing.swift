/// One provider in a list. A damaged one is listed with its error and hides no later one.
package struct ProviderListing: Sendable {
    /// The provider's position in the list.
    package let sequence: Int64
    /// `nil` if the handle cannot be read.
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
