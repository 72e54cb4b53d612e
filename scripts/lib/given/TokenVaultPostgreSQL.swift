// The doc comments of TokenVaultPostgreSQL take nothing for granted.
