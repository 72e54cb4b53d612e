/// The version of this library, which backups name.
public enum TokenVaultVersion {
    public static let current = "0.1.0"
}
