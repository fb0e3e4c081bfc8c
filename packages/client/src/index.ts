export * as McpClient from "./McpClient.ts"
export * as McpClientError from "./McpClientError.ts"
