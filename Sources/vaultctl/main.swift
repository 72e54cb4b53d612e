import Glibc
import VaultControl

exit(await CommandLineTool.main())
