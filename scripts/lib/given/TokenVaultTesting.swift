// What the doc comments of TokenVaultTesting take for granted.

import TokenVaultTesting

let time = ManualTimeSource()
let transport = ScriptedTransport()
