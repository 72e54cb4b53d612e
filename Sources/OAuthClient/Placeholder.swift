import Crypto
import HTTPTypes
