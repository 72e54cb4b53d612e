import Platform

/// A file that an operator has named, and whether only root and this user can change its content.
package struct TrustedFile: Sendable {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// The reason why a file is not trusted, to follow the file's description in a sentence, and a hint.
    package struct Refusal: Sendable {
        package let reason: String
        package let hint: String
    }

    /// Checks the file and each directory on its path. Nil also if there is no such file.
    package var refusal: Refusal? {
        do throws(TrustedPath.Flaw) {
            let file = try TrustedPath.open(path, for: .locating)
            let shown = PathName.shown(path)
            guard file.status.isOursOrRoots else {
                return Refusal(reason: "belongs to another user", hint: "run: chown \(UserID.current) \(shown)")
            }
            guard file.status.kind != .regular || file.status.permissions & 0o022 == 0 else {
                return Refusal(reason: "can be changed by other users", hint: "run: chmod go-w \(shown)")
            }
            return nil
        } catch {
            return Refusal(error)
        }
    }

    /// Checks each directory on the path of a file, which need not exist yet.
    package var refusalOfDirectory: Refusal? {
        do throws(TrustedPath.Flaw) { try TrustedPath.checkDirectory(of: path) } catch { return Refusal(error) }
        return nil
    }
}

extension TrustedFile.Refusal {
    fileprivate init?(_ flaw: TrustedPath.Flaw) {
        guard let reason = flaw.reason, let hint = flaw.hint else { return nil }
        self.init(reason: reason, hint: hint)
    }
}
