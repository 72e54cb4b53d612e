import Platform
import VaultControl

// Before anything else: what comes later takes time, and a terminal's Ctrl-\ may come meanwhile.
CommandLineTool.harden()
CurrentProcess.exit(await CommandLineTool.main())
