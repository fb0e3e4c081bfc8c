import { defineConfig } from "vitest/config"

/** How long a test may take that says nothing else. It ends what hangs; a busy machine must never meet it. */
const testTimeout = 30_000

const project = (name: string, root: string) => ({
  test: { name, root, include: ["test/**/*.test.ts"], testTimeout, hookTimeout: testTimeout }
})

export default defineConfig({
  test: {
    projects: [
      project("protocol", "packages/protocol"),
      project("negotiation", "packages/negotiation"),
      project("transport", "packages/transport"),
      project("testing", "packages/testing"),
      project("client", "packages/client"),
      project("host", "packages/host"),
      project("cli", "packages/cli"),
      project("proof", "packages/proof"),
      project("docs", "docs")
    ]
  }
})
