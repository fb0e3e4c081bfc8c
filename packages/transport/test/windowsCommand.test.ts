import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Launch from "../src/internal/launch.ts"
import * as WindowsCommand from "../src/internal/windowsCommand.ts"

const found = (command: string, files: ReadonlyArray<string>, cwd?: string) =>
  WindowsCommand.candidates({ command, cwd, path: "C:\\n;C:\\tools\\", pathExt: ".EXE;.CMD" }).find((file) =>
    files.includes(file)
  )
const interpreter = "C:\\Windows\\System32\\cmd.exe"
const run = (file: string, args: ReadonlyArray<string>) => WindowsCommand.invocation(file, args, interpreter)
/** The line for the interpreter, without the quotes around it that `/s` takes away. */
const line = (args: ReadonlyArray<string>) => Result.getOrThrow(run("C:\\n\\npx.cmd", args)).args.at(-1)?.slice(1, -1)

describe("T-STDIO-6: a command on Windows", () => {
  it("is looked up in the folders of PATH with the extensions of PATHEXT", () => {
    assert.strictEqual(found("npx", ["C:\\n\\npx.CMD"]), "C:\\n\\npx.CMD")
    assert.strictEqual(found("uv", ["C:\\tools\\uv.EXE", "C:\\tools\\uv.CMD"]), "C:\\tools\\uv.EXE")
    assert.strictEqual(found("uv.exe", ["C:\\tools\\uv.exe"]), "C:\\tools\\uv.exe")
    assert.strictEqual(found(".\\run", [".\\run.CMD"]), ".\\run.CMD")
    assert.strictEqual(found(".\\run", ["D:\\w\\.\\run.CMD"], "D:\\w"), "D:\\w\\.\\run.CMD")
    assert.strictEqual(found("C:\\b\\run", ["C:\\b\\run.CMD"], "D:\\w"), "C:\\b\\run.CMD")
    assert.isUndefined(found("nothing", ["C:\\n\\npx.CMD"]))
  })

  it("runs without the interpreter when it is a program", () => {
    assert.deepStrictEqual(
      run("C:\\n\\node.exe", ["a b", "%PATH%"]),
      Result.succeed({ command: "C:\\n\\node.exe", args: ["a b", "%PATH%"], verbatim: false })
    )
  })

  it("runs in an interpreter that no machine has set up otherwise when it is a batch file", () => {
    for (const file of ["C:\\n\\npx.cmd", "C:\\n\\npx.BAT", "C:\\n\\npx.cmd. ."]) {
      assert.deepStrictEqual(
        run(file, ["-y"]),
        Result.succeed({
          command: interpreter,
          args: ["/d", "/e:on", "/v:off", "/s", "/c", `""${file}" -y"`],
          verbatim: true
        })
      )
    }
  })

  it("is quoted for the interpreter when it is a batch file, so that no argument becomes a command", () => {
    assert.strictEqual(line(["-y", "pkg", "a b&c"]), `"C:\\n\\npx.cmd" -y pkg "a b&c"`)
    assert.strictEqual(line([`say "hi" & calc`]), `"C:\\n\\npx.cmd" "say ""hi"" & calc"`)
    assert.strictEqual(line([`\\"x`]), `"C:\\n\\npx.cmd" "\\\\""x"`)
    assert.strictEqual(line(["100%PATH%"]), `"C:\\n\\npx.cmd" "100%%cd:~,%PATH%%cd:~,%"`)
    assert.strictEqual(line(["", "^", "C:\\dir\\"]), `"C:\\n\\npx.cmd" "" "^" "C:\\dir\\\\"`)
  })

  it("keeps every argument inside its quotes, whichever characters it is made of", () => {
    const odd = [`"`, "&", "%", "^", "\\", "a", " ", "|"]
    const words = odd.flatMap((a) => odd.flatMap((b) => odd.flatMap((c) => odd.map((d) => a + b + c + d))))
    for (const word of words) {
      const text = line([word])?.slice(`"C:\\n\\npx.cmd" `.length) ?? ""
      // The interpreter knows no escape inside quotes: each quote opens or closes.
      const outside = text.split('"').filter((_, part) => part % 2 === 0)
      assert.isFalse(
        outside.some((part) => /[&|^ ]/.test(part)),
        text
      )
      assert.isFalse(/%[^%,]*%/.test(text.replaceAll("%%cd:~,%", "")), text)
    }
  })

  it("is refused when a batch file cannot be given it", () => {
    assert.isTrue(Result.isFailure(run("C:\\n\\npx.cmd", ["a\nb"])))
    assert.isTrue(Result.isFailure(run("C:\\n%PATH%\\npx.cmd", [])))
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
