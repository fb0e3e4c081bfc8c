/** Files as real products write them: read, written back letter by letter, and changed with everything else left alone. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Configuration from "../src/Configuration.ts"
import * as ConfigurationFile from "../src/ConfigurationFile.ts"
import * as ServerEntry from "../src/ServerEntry.ts"

const variables = {
  HOME: "/home/ada",
  USERPROFILE: "C:\\Users\\ada",
  GITHUB_TOKEN: "ghp_not-a-real-token",
  SEARCH_KEY: "search-key-of-nobody",
  workspaceFolder: "/home/ada/work",
  userHome: "/home/ada"
}

interface Product {
  readonly form: Configuration.Form
  /** Name, type and what is run or reached. */
  readonly servers: ReadonlyArray<readonly [name: string, type: string, at: string]>
  /** Entries that cannot be read, and why. */
  readonly problems?: ReadonlyArray<readonly [entry: string, fault: string]>
  readonly text: string
}

const products: Readonly<Record<string, Product>> = {
  "Claude Desktop": {
    form: "mcpServers",
    servers: [
      ["filesystem", "stdio", "npx -y @modelcontextprotocol/server-filesystem C:\\Users\\ada\\Desktop"],
      ["sqlite", "stdio", "uvx mcp-server-sqlite --db-path /home/ada/test.db"]
    ],
    text: `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "C:\\\\Users\\\\ada\\\\Desktop"
      ],
      "env": {
        "APPDATA": "C:\\\\Users\\\\ada\\\\AppData\\\\Roaming\\\\"
      }
    },
    "sqlite": { "command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "~/test.db"] }
  },
  "preferences": { "sidebarMode": "chat", "quickEntryShortcut": "off" }
}
`
  },
  "Claude Code, in a project": {
    form: "mcpServers",
    servers: [
      ["github", "http", "https://api.example.com/mcp/"],
      ["events", "sse", "https://events.example.com/sse"],
      ["db", "stdio", "./tools/db --port 5432"]
    ],
    problems: [["sockets", "MemberWrong"]],
    text: `{
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://api.example.com/mcp/",
      "headers": { "Authorization": "Bearer \${GITHUB_TOKEN}" },
      "oauth": { "clientId": "abc", "callbackPort": 8976 }
    },
    "events": { "type": "sse", "url": "\${EVENTS_URL:-https://events.example.com}/sse", "headersHelper": "./sign.sh" },
    "db": { "type": "stdio", "command": "./tools/db", "args": ["--port", "\${DB_PORT:-5432}"], "env": {} },
    "sockets": { "type": "ws", "url": "wss://sockets.example.com" }
  }
}
`
  },
  "Claude Code, of a user": {
    form: "mcpServers",
    servers: [["memory", "stdio", "npx -y @modelcontextprotocol/server-memory"]],
    text: `{"numStartups":42,"tipsHistory":{"shift-enter":7},"projects":{"/home/ada/work":{"allowedTools":[],"mcpServers":{"inner":{"command":"never-read"}},"hasTrustDialogAccepted":true}},"mcpServers":{"memory":{"type":"stdio","command":"npx","args":["-y","@modelcontextprotocol/server-memory"],"env":{}}},"userID":"0"}`
  },
  Cursor: {
    form: "mcpServers",
    servers: [
      ["local", "stdio", "node /home/ada/work/server.js"],
      ["remote", "http", "https://mcp.example.com/mcp"]
    ],
    text: `{
  "mcpServers": {
    "local": {
      "type": "stdio",
      "command": "node",
      "args": ["\${workspaceFolder}/server.js"],
      "envFile": "\${workspaceFolder}/.env",
      "env": { "HOME_OF": "\${userHome}", "KEY": "\${env:SEARCH_KEY}" }
    },
    "remote": {
      "url": "https://mcp.example.com/mcp",
      "headers": { "X-Api-Key": "\${env:SEARCH_KEY}" },
      "auth": { "CLIENT_ID": "x", "scopes": ["read"] }
    }
  }
}`
  },
  "VS Code, in a workspace": {
    form: "servers",
    servers: [
      ["search", "stdio", "npx -y search-server --key the answer"],
      ["github", "http", "https://api.example.com/mcp"],
      ["docker", "stdio", "docker run -i --rm -v /home/ada/work:/w image"]
    ],
    text: `{
	// asked when a server starts
	"inputs": [
		{
			"type": "promptString",
			"id": "search-key",
			"description": "Key of the search",
			"password": true
		},
	],
	"servers": {
		"search": {
			"type": "stdio",
			"command": "npx",
			"args": ["-y", "search-server", "--key", "\${input:search-key}"],
			"envFile": "\${workspaceFolder}/.env",
			"dev": { "watch": "src/**/*.ts", "debug": { "type": "node" } }
		},
		/* over HTTP */
		"github": { "type": "http", "url": "https://api.example.com/mcp" },
		"docker": {
			"command": "docker",
			"args": ["run", "-i", "--rm", "-v", "\${workspaceFolder}:/w", "image"],
			"sandboxEnabled": true,
		}
	},
	"sandbox": { "network": { "allowedDomains": ["example.com"] } }
}
`
  },
  Copilot: {
    form: "mcpServers",
    servers: [["play", "stdio", "npx @playwright/mcp@latest"]],
    text: `{"mcpServers":{"play":{"type":"local","command":"npx","args":["@playwright/mcp@latest"],"tools":["*"]}}}`
  },
  "VS Code, in the settings": {
    form: "servers",
    servers: [["time", "stdio", "uvx mcp-server-time"]],
    text: `{
    "editor.fontSize": 13,
    "[typescript]": { "editor.tabSize": 2 },
    "mcp": {
        "inputs": [],
        "servers": {
            "time": { "command": "uvx", "args": ["mcp-server-time"] }
        }
    },
    "files.eol": "\\n",
}
`
  }
}

const at = (entry: ServerEntry.ServerEntry) =>
  entry.type === "stdio"
    ? [entry.command, ...entry.args.map((arg) => (Redacted.isRedacted(arg) ? Redacted.value(arg) : arg))].join(" ")
    : entry.url

const answer = () => Effect.succeed(Option.some("the answer"))

describe("a file of", () => {
  for (const [name, { form, problems = [], servers, text }] of Object.entries(products)) {
    it.live(
      `U-54, T-CONF-2: ${name} is read, saved as it was, and keeps all else when one server is added and one changed`,
      () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const path = `${yield* fs.makeTempDirectoryScoped()}/config.json`
          yield* fs.writeFileString(path, text)
          const configuration = yield* ConfigurationFile.load(path, { variables, answer })
          assert.deepStrictEqual(Configuration.formOf(configuration), Option.some(form))
          assert.deepStrictEqual(
            configuration.entries.map((entry) => [entry.name, entry.type, at(entry)]),
            servers.map((server) => [...server])
          )
          assert.deepStrictEqual(
            configuration.problems.map(({ entry, fault }) => [entry, fault._tag]),
            problems.map((problem) => [...problem])
          )
          yield* ConfigurationFile.save(path, configuration, { form })
          assert.strictEqual(yield* fs.readFileString(path), text)

          const [first, ...others] = configuration.entries
          const added = ServerEntry.http({ name: "added", url: "https://new.example.com/mcp" })
          const changed = [{ ...first!, timeout: 1_000 }, ...others, added]
          yield* ConfigurationFile.save(path, Configuration.withEntries(configuration, changed), { form })
          const written = yield* fs.readFileString(path)
          for (const secret of [variables.GITHUB_TOKEN, variables.SEARCH_KEY, "the answer"])
            assert.notInclude(written, secret)
          const again = yield* ConfigurationFile.load(path, { variables, answer })
          assert.isTrue(Equal.equals(again.entries, changed))
          assert.lengthOf(again.problems, problems.length)
          // Taking both back leaves the text that was there.
          yield* ConfigurationFile.save(path, Configuration.withEntries(again, configuration.entries), { form })
          const lines = (whole: string) => whole.split("\n").map((line) => line.replaceAll(/[\s,]+/g, ""))
          assert.includeMembers(
            lines(yield* fs.readFileString(path)),
            lines(text).filter((line) => line.startsWith("//"))
          )

          // The array form says the same in a file of its own.
          const own = `${path}.array.json`
          yield* ConfigurationFile.save(own, configuration)
          const array = yield* ConfigurationFile.load(own, { variables, answer })
          assert.isTrue(Equal.equals(array.entries, configuration.entries))
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  }
})
