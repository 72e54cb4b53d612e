import FoundationEssentials
import OAuthClient
import VaultImport

extension FuzzTarget {
    /// A file with the logins of another system: JSON Lines.
    static let jsonLines = FuzzTarget("json-lines") { bytes throws(FuzzFinding) in try judgeSource(bytes) }
    /// The same as CSV, with the columns of a plan.
    static let csv = FuzzTarget("csv") { bytes throws(FuzzFinding) in
        try judgeSource(bytes, header: ["user", "provider", "access_token", "refresh_token", "expires_at"])
    }
    /// The same as a SQL dump.
    static let sqlDump = FuzzTarget("sql-dump") { bytes throws(FuzzFinding) in
        try judgeSource(Array("-- dump\n".utf8) + bytes)
    }
    /// MSAL's cache.
    static let msalCache = FuzzTarget("msal-cache") { bytes throws(FuzzFinding) in
        try judgeSource(Array("{\n".utf8) + bytes)
    }

    /// Every row has a result, in order, and none reveals its content.
    private static func judgeSource(_ bytes: [UInt8], header: [String]? = nil) throws(FuzzFinding) {
        var plan = ImportPlan(header: header)
        plan.limits = ImportLimits(recordBytes: 4_096, documentBytes: 65_536)
        guard let source = try? ImportSource(bytes: bytes, plan: plan) else { return }
        var rows = source.makeAsyncIterator()
        var last = 0
        while let row = try? rows.nextRow() {
            try require(row.place.row > last || row.place.table != nil, "row \(row.place.row) comes after \(last)")
            last = row.place.row
            guard case .login(let login) = row else { continue }
            try require(!login.userKey.isEmpty && !login.provider.isEmpty, "a login of nobody")
            try require(login.accessToken != nil || login.refreshToken != nil, "a login without a token")
            for token in [login.accessToken?.reveal(), login.refreshToken?.reveal()].compactMap(\.self) {
                let isVisible = token.utf8.allSatisfy { (0x20...0x7E).contains($0) }
                try require(isVisible && !token.isEmpty, "a token that cannot be sent")
                try require(token.utf8.count < 24 || !"\(row)".contains(token), "a token is printed")
            }
            if let date = login.expiresAt {
                let seconds = date.timeIntervalSince1970
                try require(seconds > 0 && seconds < 253_402_300_800, "an expiry at \(seconds)")
            }
        }
    }
}
