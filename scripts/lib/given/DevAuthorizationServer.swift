// What is said of the development server takes a running one for granted.

import DevAuthorizationServer

func given<T>() -> T { fatalError("only compiled") }

let server: DevAuthorizationServer = given()
