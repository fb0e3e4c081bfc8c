/** Child process: the legacy SDK's server on standard input and output. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { makeSdkServer } from "./sdkServer.ts"

await makeSdkServer().connect(new StdioServerTransport())
