/// One login in a list. A damaged one is listed with its error and hides no later one.
package struct LoginListing: Sendable {
    package let handle: LoginHandle
    package let userHandle: UserHandle?
    /// `nil` if the row cannot be opened.
    package let login: StoredLogin?
    package let damage: StoreError?
}
