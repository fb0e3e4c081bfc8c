/** Child process: the official modern server on standard input and output. */
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { makeOfficialServer } from "./officialServer.ts"

serveStdio(() => makeOfficialServer())
