// What the doc comments of TokenVaultPostgreSQL take for granted.

func given<T>() -> T { fatalError("only compiled") }
