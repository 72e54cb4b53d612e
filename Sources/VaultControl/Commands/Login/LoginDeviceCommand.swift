import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

struct LoginDeviceCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Log a user in through a browser on another device, such as a phone.",
        discussion: """
            vaultctl login device --user alice --provider acme

            Shows an address and a code. The user opens the address anywhere, checks that it \
            shows the same code, and approves (RFC 8628). vaultctl waits until then. Give the code to no one but the \
            user.

            It makes a new login. To log in again into one that is there, with --into and --any-account, use a \
            browser: vaultctl login open --into LOGIN
            """)

    @OptionGroup var logIn: LogInOptions

    @Flag(help: "Send a code challenge (PKCE), if the provider asks devices for one.")
    var pkce = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        invocation.warnOfCommas(in: logIn.scope)
        let done = try await VaultAccess(global, invocation).manage { users in
            try await logIn.warn(in: users.vault, invocation)
            let device = try await logIn.beginDevice(users, usesPKCE: pkce)
            try announce(device, invocation)
            return try await users.completeDeviceLogIn(device)
        }
        try LoginView.emit(new: done, invocation)
        invocation.hint("get its token: vaultctl token get \(done.login.id)")
    }

    /// Address and code are printed even with `--quiet`: without them no one can continue.
    private func announce(_ device: DeviceLogIn, _ invocation: Invocation) throws {
        let console = invocation.console
        invocation.note("Open this page on any device:")
        try console.write(Printable.escape(device.verificationURI) + "\n", to: .error)
        invocation.note("Check that it shows this code, or enter it:")
        try console.write(Printable.escape(device.userCode) + "\n", to: .error)
        if let complete = device.verificationURIComplete {
            invocation.note(
                "The same page with the code filled in, for a link or a QR code (qrencode -t ansiutf8 URL):")
            try console.write(Printable.escape(complete) + "\n", to: .error)
        }
        let left = max(0, device.expiresAt.timeIntervalSince(invocation.now))
        invocation.note("Waiting for the user's approval for \(Instant.duration(left)).")
    }
}
