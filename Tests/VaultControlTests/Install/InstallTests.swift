import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import VaultControl
import VaultServer

/// `scripts/install`, with the program that was built with the tests.
struct InstallTests {
    private static let fixed: Set<String> = [
        "bin/vaultctl", "lib/systemd/system/tokenvault-serve.service", "lib/systemd/system/tokenvault-serve.socket",
        "lib/systemd/system/vaultctl-maintain.service",
        "lib/systemd/system/vaultctl-maintain-once.service", "lib/systemd/system/vaultctl-maintain-once.timer",
        "lib/sysusers.d/tokenvault.conf", "share/bash-completion/completions/vaultctl",
        "share/zsh/site-functions/_vaultctl", "share/fish/vendor_completions.d/vaultctl.fish",
        "share/doc/tokenvault/CHANGELOG.md", "share/doc/tokenvault/SECURITY.md", "share/doc/tokenvault/sbom.cdx.json",
        "share/doc/tokenvault/serve.toml", "share/doc/tokenvault/vaultctl.toml",
        "share/tokenvault/installed", "libexec/tokenvault/wrapping/aws-kms",
        "libexec/tokenvault/wrapping/azure-key-vault", "libexec/tokenvault/wrapping/clevis",
        "libexec/tokenvault/wrapping/google-kms", "libexec/tokenvault/wrapping/tpm2",
        "libexec/tokenvault/wrapping/vault-transit", "libexec/tokenvault/witness/keep-newest",
    ]

    @Test func everythingLandsWhereItIsLookedForAndCanBeRemoved() async throws {
        let installed = try await Installation()
        let files = installed.files
        let pages = files.filter { $0.hasPrefix("share/man/man1/") }
        let documents = files.filter { $0.hasPrefix("share/man/man7/") }
        #expect(
            files.subtracting(pages).subtracting(documents).filter { !$0.hasPrefix("share/doc/tokenvault/LICENSE") }
                == Self.fixed)
        try check(documents: documents, installed)
        for file in files where file.hasPrefix("bin/") || file.hasPrefix("libexec/") {
            #expect(try installed.mode(file) == 0o755)
        }
        #expect(try installed.mode("share/man/man1/vaultctl.1") == 0o644)
        try check(pages, installed)
        try await checkCompletions(installed)
        try await checkPages(pages, installed)
        try await checkUnits(installed)
        try checkExample(installed)

        // What a newer version no longer has goes; what is not ours stays.
        let list = installed.prefix + "/share/tokenvault/installed"
        let old = installed.prefix + "/share/man/man1/vaultctl-former.1"
        try Data("old".utf8).write(to: URL(filePath: old))
        try Data((try installed.content("share/tokenvault/installed") + "share/man/man1/vaultctl-former.1\n").utf8)
            .write(to: URL(filePath: list))
        try Data("theirs".utf8).write(to: URL(filePath: installed.prefix + "/bin/other"))
        #expect(try await installed.run("--dry-run").exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: old))
        #expect(try await installed.run("--uninstall", "--dry-run").exitCode == 0)
        #expect(installed.files.isSuperset(of: files))
        #expect(try await installed.run("--uninstall").exitCode == 0)
        #expect(installed.files == ["bin/other"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: installed.prefix) == ["bin"])
        #expect(try await installed.run("--uninstall").exitCode == 1)
    }

    /// One for each page of `docs/`, and each that a hint names is there.
    private func check(documents: Set<String>, _ installed: Installation) throws {
        let root = FirstHourRow.directory + "/../.."
        let names = try FileManager.default.contentsOfDirectory(atPath: root + "/docs").filter { $0.hasSuffix(".md") }
        #expect(documents == Set(names.map { "share/man/man7/tokenvault-\($0.dropLast(3)).7" }))
        for name in ["operating", "import", "cut-over", "postgresql", "adding-a-provider", "vaultctl"] {
            let page = try installed.content("share/man/man7/tokenvault-\(name).7")
            #expect(page.contains("\n.SH NAME\ntokenvault\\-") && !page.contains("]("), "\(name)")
        }
        let operating = try installed.content("share/man/man7/tokenvault-operating.7")
        #expect(operating.contains("\n.SH \"When something goes wrong\"\n"), "\(operating.prefix(2_000))")
        #expect(Failure(.usage, "x", hints: ["see docs/import.md"]).hints == ["see man tokenvault-import"])
    }

    /// One for each command, with what the command's help says.
    private func check(_ pages: Set<String>, _ installed: Installation) throws {
        var names: Set<String> = []
        func add(_ command: any ParsableCommand.Type, below path: [String]) {
            let path = path + [command.configuration.commandName ?? ""]
            names.insert(path.joined(separator: "-"))
            for command in command.configuration.subcommands { add(command, below: path) }
        }
        add(RootCommand.self, below: [])
        #expect(pages == Set(names.map { "share/man/man1/\($0).1" }))
        let page = try installed.content("share/man/man1/vaultctl-request.1")
        #expect(page.contains("\n.Nd send a request to an \\&API with a user\\(aqs access token\n"))
        #expect(page.contains("\n.It Fl H Ar field , Fl \\-header Ar field\n"))
        #expect(!page.contains("passphrase\\-memory\\-limit"))
        #expect(
            try installed.content("share/man/man1/vaultctl.1").contains("Fl \\-passphrase\\-memory\\-limit Ar size"))
    }

    private func checkCompletions(_ installed: Installation) async throws {
        let scripts = [
            ("bash", "share/bash-completion/completions/vaultctl"), ("zsh", "share/zsh/site-functions/_vaultctl"),
            ("fish", "share/fish/vendor_completions.d/vaultctl.fish"),
        ]
        for (shell, file) in scripts {
            #expect(try installed.content(file).contains("passphrase-file"))
            guard SystemTool.path(shell) != nil else {
                print("skipped: \(shell) is not installed, so its completion was not parsed")
                continue
            }
            let run = try await SystemTool.run(shell, ["-n", installed.prefix + "/" + file])
            #expect(run.exitCode == 0, "\(shell)")
        }
        #expect(try installed.content("share/zsh/site-functions/_vaultctl").hasPrefix("#compdef vaultctl\n"))
        let typed = """
            source "$0"; COMP_WORDS=(vaultctl req); COMP_CWORD=1; COMP_LINE="vaultctl req"; COMP_POINT=12
            _vaultctl vaultctl req vaultctl; echo "${COMPREPLY[@]}"
            """
        let completed = try await SystemTool.run(
            "bash", ["-c", typed, installed.prefix + "/share/bash-completion/completions/vaultctl"])
        #expect(completed.output == "request\n")
    }

    private func checkPages(_ pages: Set<String>, _ installed: Installation) async throws {
        guard SystemTool.path("mandoc") != nil else {
            return print("skipped: mandoc is not installed, so the manual pages were not checked")
        }
        let paths = pages.sorted().map { installed.prefix + "/" + $0 }
        let run = try await SystemTool.run("mandoc", ["-T", "lint", "-W", "warning"] + paths)
        #expect(run.exitCode == 0, "\(run.output)")
        #expect(run.output.isEmpty)
    }

    private func checkUnits(_ installed: Installation) async throws {
        let services = ["vaultctl-maintain.service", "vaultctl-maintain-once.service", "tokenvault-serve.service"]
        let directory = installed.prefix + "/lib/systemd/system/"
        for service in services {
            let unit = try String(contentsOfFile: directory + service, encoding: .utf8)
            let command = service.hasPrefix("tokenvault") ? "serve" : "maintain"
            #expect(unit.contains("\nExecStart=\(installed.prefix)/bin/vaultctl \(command) "))
            #expect(unit.contains("\nLoadCredential=vault.key:"))
            try checkCommand(of: unit)
        }
        // Usage, not found, damage, rollback, key: what another try does not change, and nothing else.
        let service = try String(contentsOfFile: directory + services[0], encoding: .utf8)
        let final: [VaultControl.ExitStatus] = [.usage, .notFound, .damaged, .rollback, .key]
        let listed = final.map { String($0.rawValue) }.joined(separator: " ")
        #expect(service.contains("\nRestartPreventExitStatus=\(listed)\n"))
        guard SystemTool.path("systemd-analyze") != nil else {
            return print("skipped: systemd-analyze is not installed, so the units were not checked")
        }
        let units = (services + ["vaultctl-maintain-once.timer", "tokenvault-serve.socket"]).map { directory + $0 }
        let verified = try await ProgramRun(
            URL(filePath: "/bin/sh"), ["-c", "exec systemd-analyze verify --man=no \"$@\" 2>&1", "sh"] + units)
        #expect(verified.exitCode == 0 && verified.output.isEmpty, "\(verified.output)")
        for service in services {
            // On a scale to 100.
            let security = try await SystemTool.run(
                "systemd-analyze", ["security", "--no-pager", "--offline=true", "--threshold=15", directory + service])
            #expect(security.exitCode == 0, "\(security.output.suffix(200))")
        }
    }

    /// What the unit runs is a command line that vaultctl takes.
    private func checkCommand(of unit: String) throws {
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = line.replacing("${STATE_DIRECTORY}", with: "/var/lib/tokenvault").split(separator: " ").dropFirst()
        let command = try RootCommand.parseAsRoot(words.map(String.init))
        if let serve = command as? ServeCommand {
            return #expect(serve.global.vault == "/var/lib/tokenvault/app.vault" && serve.socket == nil)
        }
        let maintain = try #require(command as? MaintainCommand)
        #expect(maintain.global.vault == "/var/lib/tokenvault/app.vault")
        #expect(unit.contains("\nType=oneshot\n") == maintain.once)
    }

    /// The example must be one that vaultctl reads.
    private func checkExample(_ installed: Installation) throws {
        let text = try installed.content("share/doc/tokenvault/vaultctl.toml")
        let settings = try ConfigurationFile.parse(text, of: "vaultctl.toml").map(\.setting.name)
        #expect(settings == ["vault", "key-file"])
        let policy = try installed.content("share/doc/tokenvault/serve.toml")
        #expect(try ServePolicy(policy).clients.count == 2)
        let active = text.replacing("#witness =", with: "witness =")
        #expect(try ConfigurationFile.parse(active, of: "vaultctl.toml").map(\.setting.name).last == "witness")
    }

    @Test func aWrongCommandLineInstallsNothing() async throws {
        let directory = try PrivateDirectory()
        let script = URL(filePath: Installation.root + "/scripts/install")
        for (arguments, status) in [
            (["--nonsense"], 64), (["--help"], 0), (["--prefix"], 1), (["--binary", "/no/such/file"], 1),
            (["--prefix", directory.path + "/a b", "--dry-run"], 1), (["--uninstall"], 1),
            (["--destdir", directory.path, "--dry-run"], 0),
        ] as [([String], Int32)] {
            let hasPrefix = arguments.contains("--prefix")
            let run = try await ProgramRun(
                script, (hasPrefix ? [] : ["--prefix", directory.path]) + arguments)
            #expect(run.exitCode == status, "\(arguments)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }
}
