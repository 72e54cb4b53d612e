import Glibc

extension VaultAccess {
    /// Refuses what looks like the address of something that keeps no vault.
    func refuseAddress(_ text: String) throws(Failure) {
        guard let colon = text.firstIndex(of: ":"), unsafe access(text, F_OK) != 0 else { return }
        let scheme = text[..<colon].lowercased()
        let isName = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
        guard isName, scheme.first?.isLetter == true else { return }
        let rest = text[colon...].dropFirst()
        if ["file", "sqlite", "sqlite3"].contains(scheme) {
            throw .usage(
                "a vault in a file is named by its path alone, without \(scheme):", hint: "use the path: /srv/app.vault"
            )
        }
        guard rest.hasPrefix("//") || ["jdbc", "mysql", "mariadb", "mongodb", "redis"].contains(scheme) else { return }
        throw .usage(
            "no vault can lie at an address that begins with \(Printable.shortened(scheme)):",
            hint: "use the path of a file, or a PostgreSQL database: postgresql://USER@HOST/DATABASE")
    }
}
