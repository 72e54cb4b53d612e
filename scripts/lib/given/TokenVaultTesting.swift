// What the doc comments of TokenVaultTesting take for granted.

import TokenVaultTesting

func given<T>() -> T { fatalError("only compiled") }

let time = ManualTimeSource()
let transport = ScriptedTransport()
