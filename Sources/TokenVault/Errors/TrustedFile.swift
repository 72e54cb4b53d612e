import Platform

/// Whether nobody but root and this user decides what a file holds that an operator has named.
package struct TrustedFile: Sendable {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Why it is not trusted, for a sentence that begins with what it is, and what helps.
    package struct Refusal: Sendable {
        package let reason: String
        package let hint: String
    }

    /// Of the file and of each directory on the way to it. Nil also if there is no such file.
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

    /// Of each directory on the way to a file that is there, or will be.
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
