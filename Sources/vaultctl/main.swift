import Glibc
import VaultControl

// Before anything else: what comes later takes time, and a terminal's Ctrl-\ may come meanwhile.
CommandLineTool.harden()
exit(await CommandLineTool.main())
