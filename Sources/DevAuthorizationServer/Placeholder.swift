import Hummingbird
import JWTKit
