/// The page that the listener shows in the browser: fixed text, and at most the provider's reason for a refusal.
package struct RedirectPage: Sendable, Hashable {
    enum Mark: Sendable {
        case done
        case failed
        case notice
    }

    let status: Int
    let mark: Mark
    let title: String
    let sentences: [String]
    /// The provider's explanation, shown as a quotation.
    var quotation: String?

    package static let done = RedirectPage(
        status: 200, mark: .done, title: "You are logged in",
        sentences: ["The tokens are in the vault.", "You can close this tab and go back to the terminal."])

    /// - Parameters:
    ///   - code: the provider's error code, such as `access_denied`.
    ///   - words: its own explanation.
    package static func refused(_ code: String, _ words: String?) -> RedirectPage {
        RedirectPage(
            status: 200, mark: .failed,
            title: code == "access_denied" ? "Access was denied" : "The provider refused the log-in",
            sentences: ["Nothing was stored. You can close this tab; to try again, start again in the terminal."],
            quotation: words.flatMap { $0.isEmpty ? nil : "\($0) (\(code))" } ?? code)
    }

    package static let unfinished = RedirectPage(
        status: 200, mark: .failed, title: "The log-in could not be finished",
        sentences: ["The terminal says why. You can close this tab."])

    static let ended = RedirectPage(
        status: 410, mark: .notice, title: "This log-in has ended",
        sentences: ["Nothing waits for it. To try again, start again in the terminal."])

    static let answeredBefore = RedirectPage(
        status: 410, mark: .notice, title: "This log-in was answered before",
        sentences: ["Each log-in takes one answer. The terminal says how it went."])

    static let notThisLogIn = RedirectPage(
        status: 400, mark: .failed, title: "This is not the answer to your log-in",
        sentences: [
            "It belongs to another attempt, or something is missing in it. Nothing was stored.",
            "Use the page that the terminal opened last, or start again there.",
        ])

    static let nothingHere = RedirectPage(
        status: 404, mark: .notice, title: "There is nothing here",
        sentences: ["This address only waits for a log-in to come back."])

    static let wrongMethod = RedirectPage(
        status: 405, mark: .notice, title: "This is not how a log-in comes back",
        sentences: ["The provider must send the browser here with an ordinary link (response_mode=query)."])

    static let wrongHost = RedirectPage(
        status: 400, mark: .notice, title: "This address goes by another name",
        sentences: ["Open it by the name that the terminal shows."])
}
