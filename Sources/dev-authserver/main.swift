print("dev-authserver")
