import { defineConfig } from "vitest/config"

const project = (name: string, root: string) => ({ test: { name, root, include: ["test/**/*.test.ts"] } })

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
