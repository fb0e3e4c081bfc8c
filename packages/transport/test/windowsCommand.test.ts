import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Launch from "../src/internal/launch.ts"
import * as WindowsCommand from "../src/internal/windowsCommand.ts"

const found = (command: string, files: ReadonlyArray<string>, path = "C:\\n;C:\\tools\\") =>
  WindowsCommand.candidates({ command, path, pathExt: ".EXE;.CMD" }).find((file) => files.includes(file))
const line = (args: ReadonlyArray<string>) =>
  Result.getOrThrow(WindowsCommand.invocation("C:\\n\\npx.cmd", args)).command

describe("T-STDIO-6: a command on Windows", () => {
  it("is looked up in the folders of PATH with the extensions of PATHEXT", () => {
    assert.strictEqual(found("npx", ["C:\\n\\npx.CMD"]), "C:\\n\\npx.CMD")
    assert.strictEqual(found("uv", ["C:\\tools\\uv.EXE", "C:\\tools\\uv.CMD"]), "C:\\tools\\uv.EXE")
    assert.strictEqual(found("uv.exe", ["C:\\tools\\uv.exe"]), "C:\\tools\\uv.exe")
    assert.strictEqual(found(".\\run", [".\\run.CMD"]), ".\\run.CMD")
    assert.isUndefined(found("nothing", ["C:\\n\\npx.CMD"]))
  })

  it("runs without the interpreter when it is a program", () => {
    assert.deepStrictEqual(
      WindowsCommand.invocation("C:\\n\\node.exe", ["a b", "%PATH%"]),
      Result.succeed({ command: "C:\\n\\node.exe", args: ["a b", "%PATH%"], shell: false })
    )
  })

  it("is quoted for the interpreter when it is a batch file, so that no argument becomes a command", () => {
    assert.strictEqual(line(["-y", "pkg", "a b&c"]), `"C:\\n\\npx.cmd" -y pkg "a b&c"`)
    assert.strictEqual(line([`say "hi" & calc`]), `"C:\\n\\npx.cmd" "say ""hi"" & calc"`)
    assert.strictEqual(line([`\\"x`]), `"C:\\n\\npx.cmd" "\\\\""x"`)
    assert.strictEqual(line(["100%PATH%"]), `"C:\\n\\npx.cmd" "100%%cd:~,%PATH%%cd:~,%"`)
    assert.strictEqual(line(["", "^", "C:\\dir\\"]), `"C:\\n\\npx.cmd" "" "^" "C:\\dir\\\\"`)
  })

  it("is refused when a batch file cannot be given the argument", () => {
    assert.isTrue(Result.isFailure(WindowsCommand.invocation("C:\\n\\npx.cmd", ["a\nb"])))
  })
})

describe("T-STDIO-7: the environment of a child", () => {
  const entries = { TOKEN: "t", HOME: undefined }

  it("is a safe part of the parent's with the entries on top", () => {
    const parent = { PATH: "/bin", HOME: "/h", SECRET: "s", TERM: "() { :; }" }
    const given = { platform: "linux", parent, entries, inherit: false }
    assert.deepStrictEqual(Launch.environment(given), { PATH: "/bin", TOKEN: "t" })
    assert.deepStrictEqual(Launch.environment({ ...given, inherit: true }), { PATH: "/bin", SECRET: "s", TOKEN: "t" })
  })

  it("compares names without regard to case on Windows, and keeps their spelling", () => {
    const parent = { Path: "C:\\n", SystemRoot: "C:\\W", Secret: "s" }
    const given = { platform: "win32", parent, entries: { PATH: "D:\\x" }, inherit: false }
    assert.deepStrictEqual(Launch.environment(given), { PATH: "D:\\x", SystemRoot: "C:\\W" })
  })
})
