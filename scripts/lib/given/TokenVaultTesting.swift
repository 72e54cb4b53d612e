// What the doc comments of TokenVaultTesting take for granted.

import TokenVault
import TokenVaultTesting

let time = ManualTimeSource()
let transport = ScriptedTransport()

// For blocks that tests show instead: see calls.txt.
var vault: Vault { preconditionFailure("only compiled") }
var users: UserManager { preconditionFailure("only compiled") }
