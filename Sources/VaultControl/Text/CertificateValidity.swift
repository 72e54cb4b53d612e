import FoundationEssentials

enum CertificateValidity {
    /// Why a certificate is not valid now, after the noun; nil if it is.
    ///
    /// - Parameter start: nil if it does not matter.
    static func problem(from start: Date?, until end: Date, now: Date) -> String? {
        if end <= now { return "expired \(Instant.relative(end, now: now))" }
        guard let start, start > now else { return nil }
        return "is valid only from \(Instant.relative(start, now: now)) on"
    }
}
