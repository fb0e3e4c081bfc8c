/**
 * Commands on Windows: many are `.cmd` files, which only the command interpreter runs, and it reads its line by rules of
 * its own (T-STDIO-6). All here is pure, so it is tested on any platform.
 */
import * as Result from "effect/Result"

/** What to spawn. With `verbatim`, the arguments are quoted already. */
export interface Invocation {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly verbatim: boolean
}

const usual = ".COM;.EXE;.BAT;.CMD"

const hasFolder = (command: string) => /[\\/]|^[a-z]:/i.test(command)
const isRooted = (path: string) => /^[\\/]|^[a-z]:/i.test(path)
const inFolder = (folder: string, name: string) => `${folder.replace(/[\\/]+$/, "")}\\${name}`

/**
 * The files a command may mean, best first: folders of PATH in order, in each the extensions of PATHEXT in order. A path
 * starts at the folder that the command will run in.
 */
export const candidates = (options: {
  readonly command: string
  /** An absolute path, if any. */
  readonly cwd: string | undefined
  readonly path: string | undefined
  readonly pathExt: string | undefined
}): ReadonlyArray<string> => {
  const { command, cwd } = options
  const extensions = (options.pathExt ?? usual).split(";").filter((extension) => extension.startsWith("."))
  const named = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()))
  const names = [...(named ? [command] : []), ...extensions.map((extension) => command + extension)]
  if (hasFolder(command)) {
    return cwd === undefined || isRooted(command) ? names : names.map((name) => inFolder(cwd, name))
  }
  const folders = (options.path ?? "")
    .split(";")
    .map((folder) => folder.replaceAll('"', ""))
    .filter((folder) => folder !== "")
  return folders.flatMap((folder) => names.map((name) => inFolder(folder, name)))
}

/** Characters that mean nothing to the interpreter and need no quotes. */
const harmless = /^[a-z0-9#$*+\-./:?@\\_]+$/i

/**
 * Quotes one argument for a batch file. A batch file reads its arguments a second time when it hands them on, so a quote
 * is doubled rather than escaped, and a percent sign is kept from starting a variable.
 */
const quoted = (argument: string): string => {
  if (harmless.test(argument) && !argument.endsWith("\\")) return argument
  const inside = argument
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, "$1$1")
    .replaceAll("%", "%%cd:~,%")
  return `"${inside}"`
}

/** Windows takes dots and spaces off the end of a name. */
const isBatch = (file: string) => /\.(cmd|bat)[. ]*$/i.test(file)

/** Nothing from the registry, extensions on and `!` without a meaning, whatever the machine says; then one line. */
const switches = ["/d", "/e:on", "/v:off", "/s", "/c"]

/** How a file that was found is run. Fails, with the reason, for what a batch file cannot be given. */
export const invocation = (
  file: string,
  args: ReadonlyArray<string>,
  interpreter: string
): Result.Result<Invocation, string> => {
  if (!isBatch(file)) return Result.succeed({ command: file, args, verbatim: false })
  if ([file, ...args].some((word) => /[\r\n\0]/.test(word))) {
    return Result.fail("InvalidArgument (a .cmd file cannot take an argument with a line break)")
  }
  if (/["%]/.test(file)) return Result.fail("InvalidArgument (a .cmd file whose path has a quote or a percent sign)")
  const line = [`"${file}"`, ...args.map(quoted)].join(" ")
  return Result.succeed({ command: interpreter, args: [...switches, `"${line}"`], verbatim: true })
}
