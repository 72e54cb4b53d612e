/// The version of this library, which backups name.
package enum TokenVaultVersion {
    package static let current = "0.1.0"
}
