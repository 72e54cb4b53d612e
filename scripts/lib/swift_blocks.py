"""The Swift blocks of the pages and of the doc comments, for scripts/swift-blocks: where they are, and the source file
that each becomes."""

import pathlib
import re

root = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Examples/backend/README.md"]
# What a fragment's readers have imported already.
READERS = {
    "OAuthClient": ["HTTPTypes", "OAuthClient"],
    "TokenVaultHummingbird": ["Foundation", "Hummingbird", "TokenVault", "TokenVaultHummingbird"],
    "TokenVaultTesting": ["Foundation", "Testing", "TokenVault", "TokenVaultTesting"],
    "DevAuthorizationServer": ["DevAuthorizationServer", "Foundation", "Testing"],
    "TokenVaultResources": ["Foundation", "TokenVault", "TokenVaultResources"],
    "TokenVaultPostgreSQL": ["Foundation", "TokenVault", "TokenVaultPostgreSQL"],
    "VaultImport": ["Foundation", "TokenVault", "VaultImport"],
}
# No product, so what it shows is for those who work on vaultctl.
LEFT_OUT = {"LoopbackRedirect"}
USUAL = ["Foundation", "ServiceLifecycle", "TokenVault", "TokenVaultHTTP"]
# A declaration that cannot stand in a function.
TOP_LEVEL = re.compile(r"^(@Test|(public |final )*(class|actor|struct|enum|protocol) )")
FOLDERS = re.compile(r'(?<=["=])/(?=(etc/app|var/lib/app|mnt/backup)\b)')
# Where dev-authserver listens in the pages.
LOOPBACK = '"http://127.0.0.1:40123"'
# What a reader fills in.
FILLED_IN = {
    LOOPBACK: "loopbackServer",
    '"age1…"': "recipient",
    "// Your service renews alice's token here.": "try await renew(login, at: server)",
}


class Block:
    def __init__(self, path, line, text, not_run=None):
        self.path, self.line, self.text, self.not_run = path, line, text, not_run
        self.module = self.module_of(path)
        self.imports = re.findall(r"^import (\w+)$", text, re.M) or READERS.get(self.module, USUAL)
        self.lines = ["" if re.match(r"import \w+$", part) else part for part in text.split("\n")]
        self.calls, self.number = {}, None

    @property
    def place(self):
        return f"{self.path}:{self.line}"

    @property
    def is_test(self):
        return "Testing" in self.imports

    @staticmethod
    def module_of(path):
        """Whose readers see it: that of a module's own pages and comments, and else TokenVault."""
        parts = pathlib.PurePath(path).parts
        name = parts[1] if parts[0] == "Sources" else ""
        if path == "docs/dev-authserver.md":
            name = "DevAuthorizationServer"
        return name if name in READERS else "TokenVault"

    def source(self):
        """A type for each: two pages may declare the same name."""
        statements, declarations, inside = [], [], False
        for part in self.lines:
            part = FOLDERS.sub("", part)
            for text, code in FILLED_IN.items():
                part = part.replace(text, code)
            inside = inside or bool(TOP_LEVEL.match(part))
            declarations.append(part if inside else "")
            statements.append("" if inside else part)
            if inside and part == "}":
                inside = False
        self.only_declares = not any(re.match(r"(?!func )[^\s/}]", part) for part in statements)
        has_tests = any(part.lstrip().startswith("@Test") for part in declarations)
        where = f'#sourceLocation(file: "{self.path}", line: {self.line})'
        lines = [f"import {name}" for name in self.imports] + [f"struct Block{self.number} {{"]
        lines += [where, *declarations, "#sourceLocation()"]
        if not (has_tests and self.only_declares):
            if self.only_declares and not self.not_run and "after" not in self.calls:
                raise Problem(f"{self.place}: it only declares: call it in scripts/lib/given/calls.txt")
            lines += ["@Test" if self.is_test else "", "static func run() async throws {"]
            lines += [where, *statements, "#sourceLocation()", self.calls.get("after", "")]
            lines += ["" if self.is_test else "blockEnded()", "}"]
        for name in ("before", "meanwhile"):
            if name in self.calls:
                lines += [f"@Sendable static func {name}() async throws {{", self.calls[name], "}"]
        return "\n".join([*lines, "}", ""])

    def entry(self, prepares):
        """Its lines in the table of its module, which may have something to prepare."""
        before = f"try await Block{self.number}.before()\n" if "before" in self.calls else ""
        meanwhile = f", meanwhile: Block{self.number}.meanwhile" if "meanwhile" in self.calls else ""
        creates = "true" if "KeyFiles.generate" in self.text else "false"
        prepare = f"try await prepare(createsVault: {creates})\n" if prepares else ""
        return (f"case {self.number}:\n{prepare}{before}"
                f"try await Run({{ try await Block{self.number}.run() }}{meanwhile})()")


class Problem(Exception):
    pass


def blocks_of(path):
    """Those of a page, or of a source's doc comments."""
    text, start, reason = [], None, None
    for number, line in enumerate((root / path).read_text(encoding="utf-8").split("\n"), 1):
        if path.endswith(".swift"):
            comment = re.match(r"\s*/// ?(.*)$", line)
            if not comment:
                continue
            line = comment.group(1)
        if start is None and line.startswith("```swift"):
            info = line.removeprefix("```swift").strip()
            if info.startswith("not-compiled="):
                print(f"not compiled: {path}:{number}: {info.removeprefix('not-compiled=')}")
                continue
            reason = info.removeprefix("not-run=") if info.startswith("not-run=") else None
            text, start = [], number + 1
        elif start is not None and line == "```":
            yield Block(path, start, "\n".join(text), reason)
            start = None
        elif start is not None:
            text.append(line)


def all_blocks():
    paths = PAGES + [str(path.relative_to(root)) for path in sorted(root.glob("docs/*.md"))]
    paths += [str(path.relative_to(root)) for path in sorted(root.glob("Sources/*/*.docc/*.md"))]
    paths += [str(path.relative_to(root)) for path in sorted(root.glob("Sources/**/*.swift"))
              if path.relative_to(root).parts[1] not in LEFT_OUT]
    blocks = [block for path in paths for block in blocks_of(path)]
    for number, block in enumerate(blocks):
        block.number = number
    return blocks


def read_calls(blocks):
    """Gives each block the code around it: sections of scripts/lib/given/calls.txt, found by a text of the block."""
    meant, section, headed, problems = [], None, False, []
    for number, line in enumerate((root / "scripts/lib/given/calls.txt").read_text(encoding="utf-8").split("\n"), 1):
        where = f"scripts/lib/given/calls.txt:{number}"
        if line.startswith("=== "):
            path, _, text = line.removeprefix("=== ").partition(": ")
            found = [block for block in blocks if block.path == path and text in block.text]
            if len(found) != 1:
                problems.append(f"{where}: {len(found)} blocks of {path} contain this text: {text}")
            meant, headed = meant + found if headed else found, True
        elif line.startswith("--- "):
            section, headed = line.removeprefix("--- "), False
            if section.startswith("not-run="):
                for block in meant:
                    block.not_run = section.removeprefix("not-run=")
            elif section in ("before", "after", "meanwhile"):
                for block in meant:
                    block.calls[section] = f'#sourceLocation(file: "scripts/lib/given/calls.txt", line: {number + 1})\n'
        elif section in ("before", "after", "meanwhile"):
            for block in meant:
                block.calls[section] += line + "\n"
    if problems:
        raise Problem("\n".join(problems))
    for block in blocks:
        block.calls = {name: text + "#sourceLocation()" for name, text in block.calls.items()}
